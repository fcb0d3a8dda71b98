// SPDX-License-Identifier: Apache-2.0
//
// The time of iterations that were found, not marked.
#pragma once

#include "report/figures/figures.h"
#include "report/limit/limit_calls.h"

PPROF_BEGIN_C_

// ppi_loop_answer adds the loop's turns to the figures of its run.
pprof_status ppi_loop_answer(const ppi_limit_loop *loop,
                             const ppi_table_ids *ids, ppi_figures *out);

PPROF_END_C_
