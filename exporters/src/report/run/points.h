// SPDX-License-Identifier: Apache-2.0
//
// What a thread's points count for, once a sweep has found what is around them.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_points_settle tells of those before the horizon, and forgets them.
pprof_status ppi_points_settle(ppi_run *run, ppi_run_thread *thread,
                               uint64_t horizon_ns);

PPROF_END_C_
