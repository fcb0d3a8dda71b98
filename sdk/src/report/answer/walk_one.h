// SPDX-License-Identifier: Apache-2.0
//
// The walk back over the ranges of one lane, where there are no others, no
// devices, and none that wait.
#ifndef PPI_WALK_ONE_H_
#define PPI_WALK_ONE_H_

#include "report/answer/walk_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_walk_one_lane tells of all until the walk's begin; the lane's first range
// is looked up, and what is open is there.
pprof_status ppi_walk_one_lane(ppi_walk_state *at);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WALK_ONE_H_
