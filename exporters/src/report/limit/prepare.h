// SPDX-License-Identifier: Apache-2.0
//
// Calls in the order of time, under their stages' names, on their rows.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// ppi_model_prepare uses `calls` up. False: out of memory.
bool ppi_model_prepare(ppi_limit_model *model, ppi_limit_calls *calls);
void ppi_model_clear(ppi_limit_model *model);

PPROF_END_C_
