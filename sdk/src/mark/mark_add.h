// SPDX-License-Identifier: Apache-2.0
//
// Adds to the innermost range, for other code than the markers themselves.
#pragma once

#include "spool/spool.h"

// ppi_work_read copies a caller's size-first amount; zeroes when it is NULL.
ppi_work ppi_work_read(const pprof_work_amount *amount);

// Between enter and leave.
void ppi_mark_flow(ppi_lane *lane, uint64_t flow);
void ppi_mark_work(ppi_lane *lane, ppi_work amount);
