// SPDX-License-Identifier: Apache-2.0
//
// The longest path through steps, by lane. One lane carries a step; another one
// counts only while the carrier waits for it.
#pragma once

#include "report/answer/walk.h"

PPROF_BEGIN_C_

// Steps with more ranges and items have no path, so that memory has a bound.
#define PPI_STEP_PATH_MOST 65536u

typedef struct ppi_step_path {
  ppi_lane_stretch *items;  // in order
  size_t num, capacity;
} ppi_step_path;

// ppi_step_path_find lists the paths of the frame units that lie in the walk.
// Units that overlap have none. Items are in order; without lanes it reads
// ranges from them.
bool ppi_step_path_find(const ppi_walk_back *walk, ppi_step_path *out);
// ppi_step_path_is_long: the unit, which may end later than `to_ns`, surely has
// no path.
bool ppi_step_path_is_long(const ppi_answer_lanes *lanes, const ppi_item *items,
                           size_t num_items, uint64_t from_ns, uint64_t to_ns);

PPROF_END_C_
