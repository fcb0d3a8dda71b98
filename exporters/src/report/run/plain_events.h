// SPDX-License-Identifier: Apache-2.0
//
// Plain events: host ranges of the batch's lane with times alone, of sites
// without special traits. Most events of most runs are plain.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_plain_events_take takes plain events from `at` on up to the first other
// event, and moves `at` there.
bool ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                           ppi_run_lane *lane, size_t *at);

PPROF_END_C_
