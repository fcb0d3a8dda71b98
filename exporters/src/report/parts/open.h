// SPDX-License-Identifier: Apache-2.0
//
// What checkpoints list as open, as far as it is believed.
#pragma once

#include "report/parts/merge.h"

PPROF_BEGIN_C_

// A host range that a checkpoint listed as open.
typedef struct ppi_run_listed {
  uint64_t start_ns, end_ns;
  size_t index;  // in the list
  uint32_t lane, site;
  uint16_t depth, flags;  // PPI_HELD_LOOSE, PPI_HELD_COMMUNICATION
  bool is_request, is_stale;
} ppi_run_listed;

// All zero is the empty one.
typedef struct ppi_listed {
  uint64_t checkpoint_ns;  // of the last checkpoint
  // Of it, those that are believed; by lane, start, site.
  ppi_run_listed *items;
  size_t num;
  uint64_t num_disbelieved;
} ppi_listed;

// ppi_run_doubt_open takes the host ranges of a checkpoint that have not come
// already, and counts those that have.
pprof_status ppi_run_doubt_open(ppi_listed *all, ppi_run_ids *ids,
                                const pprof_checkpoint *checkpoint);
// ppi_run_doubt_left comes at the end: it forgets those that have come since,
// or of which it is known when they ended.
pprof_status ppi_run_doubt_left(ppi_listed *all, ppi_run_ids *ids);
// ppi_run_list_open lists them, to be freed, in their order, as if they ended
// at `end_ns`.
pprof_status ppi_run_list_open(const ppi_listed *all, ppi_run_ids *ids,
                               uint64_t end_ns, ppi_run_open **out);

PPROF_END_C_
