// SPDX-License-Identifier: Apache-2.0
//
// What is said of the innermost range, for others than the markers themselves.
#ifndef PPI_MARK_ADD_H_
#define PPI_MARK_ADD_H_

#include "spool/spool.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_work_read copies a caller's size-first amount; zeroes when it is NULL.
ppi_work ppi_work_read(const pprof_work_amount *amount);

// Between enter and leave.
void ppi_mark_flow(ppi_lane *lane, uint64_t flow);
void ppi_mark_work(ppi_lane *lane, ppi_work amount);

#ifdef __cplusplus
}
#endif

#endif  // PPI_MARK_ADD_H_
