// SPDX-License-Identifier: Apache-2.0
//
// Events of a run: what each one adds, and what is held of it.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);

// ppi_run_open_step tells of a step that a checkpoint lists as open.
pprof_status ppi_run_open_step(ppi_run *run, const pprof_event *event);

PPROF_END_C_
