// SPDX-License-Identifier: Apache-2.0
//
// The walk back over the ranges of one lane, where there are no others, no
// devices, and none that wait.
#pragma once

#include "report/answer/walk_state.h"

PPROF_BEGIN_C_

// ppi_walk_one_lane tells of all until the walk's begin; the lane's first range
// is looked up, and what is open is there.
pprof_status ppi_walk_one_lane(ppi_walk_state *at);

PPROF_END_C_
