// SPDX-License-Identifier: Apache-2.0
//
// Who waits for a thread that has no ranges: PyTorch's backward runs on threads
// of its own, while the one that called it stands in its range.
#ifndef PPI_WAITING_H_
#define PPI_WAITING_H_

#include "spool/lane.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_waiting_find answers the lane of the only thread that has open ranges and
// sleeps, and how many are open; NULL: there is none, or more than one. What it
// has found holds until that thread's next marker; that it has found none, for
// a ms. The calling thread is busy, and has no ranges open.
const ppi_lane *ppi_waiting_find(uint32_t *out_depth);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WAITING_H_
