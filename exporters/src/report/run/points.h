// SPDX-License-Identifier: Apache-2.0
//
// Counts a thread's points, once a sweep has found the ranges around them.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_points_settle counts the points before the horizon, and forgets them.
pprof_status ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                               uint64_t horizon_ns);

PPROF_END_C_
