// SPDX-License-Identifier: Apache-2.0
//
// Host ranges of their batch's lane that have nothing but their times, of sites
// with nothing special: most events of most runs.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_plain_events_take takes the events from `at` on that are plain, one after
// the other, and moves `at` behind them.
pprof_status ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                                   ppi_run_lane *lane, size_t *at);

PPROF_END_C_
