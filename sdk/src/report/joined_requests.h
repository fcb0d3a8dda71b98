// SPDX-License-Identifier: Apache-2.0
//
// Requests that several processes of a run work on, each as one.
#ifndef PPI_JOINED_REQUESTS_H_
#define PPI_JOINED_REQUESTS_H_

#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_join_requests makes the answer one of whole requests where processes
// share numbers and have no stage in common; else it changes nothing.
pprof_status ppi_join_requests(ppi_figures *figures);

#ifdef __cplusplus
}
#endif

#endif  // PPI_JOINED_REQUESTS_H_
