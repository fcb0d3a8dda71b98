// SPDX-License-Identifier: Apache-2.0
//
// The cost of a marker in this process.
#pragma once

#include "pprof/base.h"

// ppi_mark_cost_x1000 runs the stack markers on a lane of its own and answers
// the median cost of one marker in ns x 1000. Records nothing.
uint64_t ppi_mark_cost_x1000(void);
// pprof_mark_wrapped_ sets the further cost of a marker in the calling language
// (Python), for sessions that start later.
PPROF_API void pprof_mark_wrapped_(uint64_t ns_x1000);
