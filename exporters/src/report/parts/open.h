// SPDX-License-Identifier: Apache-2.0
//
// The ranges that checkpoints list as open, without those that have ended.
#pragma once

#include "report/parts/merge.h"

PPROF_BEGIN_C_

// A host range that a checkpoint listed as open.
typedef struct ppi_run_listed {
  ppi_buffered range;  // its end: as listed
  size_t index;        // in the list
  uint32_t lane;
  bool is_request, is_stale;
} ppi_run_listed;

// All zero is the empty one.
typedef struct ppi_listed {
  uint64_t checkpoint_ns;  // of the last checkpoint
  // Its open ranges that have not ended, by lane, start, site.
  ppi_run_listed *items;
  size_t num;
  uint64_t num_disbelieved;
} ppi_listed;

// ppi_run_doubt_open takes the open host ranges of a checkpoint, and counts and
// drops those that have ended.
bool ppi_run_doubt_open(ppi_listed *all, ppi_run_ids *ids,
                        const pprof_checkpoint *checkpoint);
// ppi_run_doubt_left is called at the end. It drops ranges that have ended
// since, or that have a known end.
bool ppi_run_doubt_left(ppi_listed *all, ppi_run_ids *ids);
// ppi_run_list_open lists the open ranges in order, with `end_ns` as their end.
// The caller frees the list.
bool ppi_run_list_open(const ppi_listed *all, ppi_run_ids *ids, uint64_t end_ns,
                       ppi_run_open **out);

PPROF_END_C_
