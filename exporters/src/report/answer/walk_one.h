// SPDX-License-Identifier: Apache-2.0
//
// The walk back over a single lane, without devices and without ranges that
// wait.
#pragma once

#include "report/answer/walk_state.h"

PPROF_BEGIN_C_

// ppi_walk_one_lane accounts for all ranges back to the walk's begin. The
// caller sets the lane's first range and its open frames.
pprof_status ppi_walk_one_lane(ppi_walk_state *at);

PPROF_END_C_
