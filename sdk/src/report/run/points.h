// SPDX-License-Identifier: Apache-2.0
//
// What a thread's points count for, once a sweep has found what is around them.
#ifndef PPI_REPORT_POINTS_H_
#define PPI_REPORT_POINTS_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_points_settle tells of those before the horizon, and forgets them.
pprof_status ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                               uint64_t horizon_ns);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_POINTS_H_
