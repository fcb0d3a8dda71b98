// SPDX-License-Identifier: Apache-2.0
//
// The amounts that events state: work, counters, messages, memory.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_run_take_work takes a counter, or an event with work; `lane` is the
// batch's.
bool ppi_run_take_work(ppi_run *run, const pprof_event *event, uint32_t lane);

PPROF_END_C_
