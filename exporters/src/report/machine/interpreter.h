// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's time: collections that hit units, callbacks that blocked an
// event loop, and stages that had its lock.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

PPROF_BEGIN_C_

// ppi_interpreter_find takes a finished run; `loops` are the counters of
// category EventLoop.
bool ppi_interpreter_find(const ppi_machine_run *loops,
                          const ppi_limit_calls *calls,
                          ppi_interpreter_figures *out);

PPROF_END_C_
