// SPDX-License-Identifier: Apache-2.0
//
// Who waits for a thread that has no ranges: PyTorch's backward runs on threads
// of its own, while the one that called it stands in its range.
#pragma once

#include "spool/lane.h"

PPROF_BEGIN_C_

// ppi_waiting_find answers the lane of the only thread that has open ranges and
// sleeps, and how many are open; NULL: there is none, or more than one. What it
// has found holds until that thread's next marker; that it has found none, for
// a ms. The calling thread is busy, and has no ranges open.
const ppi_lane *ppi_waiting_find(uint32_t *out_depth);

PPROF_END_C_
