// SPDX-License-Identifier: Apache-2.0
//
// Events of a run: each one adds to sums or waits in a buffer for a horizon.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);

// ppi_run_open_step adds a step that a checkpoint lists as open.
bool ppi_run_open_step(ppi_run *run, const pprof_event *event);

PPROF_END_C_
