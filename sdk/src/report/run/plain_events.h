// SPDX-License-Identifier: Apache-2.0
//
// Host ranges of their batch's lane that have nothing but their times, of sites
// with nothing special: most events of most runs.
#ifndef PPI_PLAIN_EVENTS_H_
#define PPI_PLAIN_EVENTS_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_plain_events_num answers how many of the events from `from` to `end`, one
// after the other, are plain.
size_t ppi_plain_events_num(const ppi_run *run, const pprof_batch *batch,
                            size_t from, size_t end, const ppi_run_lane *lane);
// ppi_plain_events_take takes so many, at least one.
pprof_status ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                                   size_t from, size_t num, ppi_run_lane *lane);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PLAIN_EVENTS_H_
