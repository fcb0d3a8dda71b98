// SPDX-License-Identifier: Apache-2.0
//
// Walks a request of host ranges that nest on their threads in one pass. Most
// requests are of this kind.
#pragma once

#include "report/parts/request_walk.h"

PPROF_BEGIN_C_

// Memory for walks, to be used again. All zero is the empty one.
typedef struct ppi_nested_room {
  ppi_part_place *places;  // by part
  ppi_link *links;
  uint32_t *open;
  uint64_t *tops;       // by lane: its latest part + 1 + `num_before`
  uint64_t num_before;  // parts of requests before
} ppi_nested_room;

// ppi_nested_room_make makes room for requests of `most_parts` parts.
bool ppi_nested_room_make(ppi_nested_room *room, size_t most_parts,
                          size_t num_lanes);
void ppi_nested_room_clear(ppi_nested_room *room);

// ppi_walk_nested does what ppi_walk_critical and ppi_walk_request do, and sets
// walk->places, but makes no path; the times need not be zero. False: the times
// are zero; the request has other parts than host ranges that nest and one
// range that is the request itself, or some wait for others.
bool ppi_walk_nested(ppi_walk *walk, ppi_nested_room *room);

PPROF_END_C_
