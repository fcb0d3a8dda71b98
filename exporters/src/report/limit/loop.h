// SPDX-License-Identifier: Apache-2.0
//
// The loop of a run that marks no steps and no requests: what goes round, and
// when each turn began.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// ppi_loop_keep copies the calls; ppi_loop_take, once the model has its window,
// the turns. False: out of memory.
bool ppi_loop_keep(ppi_limit_loop *loop, const ppi_limit_model *model);
bool ppi_loop_take(ppi_limit_loop *loop, const ppi_limit_model *model);

PPROF_END_C_
