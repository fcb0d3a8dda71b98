// SPDX-License-Identifier: Apache-2.0
//
// What events state that was done: work, counters, messages, memory.
#ifndef PPI_REPORT_AMOUNTS_H_
#define PPI_REPORT_AMOUNTS_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_run_take_work takes a counter, or an event with work; `lane` is the
// batch's.
pprof_status ppi_run_take_work(ppi_run *run, const pprof_event *event,
                               uint32_t lane);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_AMOUNTS_H_
