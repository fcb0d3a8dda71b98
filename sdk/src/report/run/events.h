// SPDX-License-Identifier: Apache-2.0
//
// Events of a run: what each one adds, and what is held of it.
#ifndef PPI_REPORT_EVENTS_H_
#define PPI_REPORT_EVENTS_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);

// ppi_run_open_step tells of a step that a checkpoint lists as open.
pprof_status ppi_run_open_step(ppi_run *run, const pprof_event *event);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_EVENTS_H_
