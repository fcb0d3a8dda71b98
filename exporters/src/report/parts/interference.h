// SPDX-License-Identifier: Apache-2.0
//
// How device ranges of one run share their devices: for each stage its time
// alone, and for each two the time of both at once. One thread at a time.
#pragma once

#include "base/map.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

// A device that runs more at once is not told apart further.
enum { PPI_INTERFERENCE_MAX_ACTIVE = 256 };

// Timed device ranges of one site on one device.
typedef struct ppi_interference_stage {
  uint32_t site, device;
  uint64_t num_calls, busy_ns;   // busy: their union
  uint64_t num_alone, alone_ns;  // met by no range of another stream; steady
  unsigned __int128 alone_squares;
  size_t num_begun;
  uint32_t num_active;
  uint64_t since_ns;  // while any is: busy_ns holds the time before it
} ppi_interference_stage;

// Stage `of` while `by` ran on another stream.
typedef struct ppi_interference_pair {
  uint32_t of, by;      // stages
  uint32_t num_active;  // ranges of both that run side by side
  uint64_t since_ns;    // while any do: overlap_ns holds the time before it
  uint64_t overlap_ns;
  // Steady calls of `of` that met `by` and no other stage, for half of their
  // time at least; and that time.
  uint64_t num_calls, beside_ns;
  unsigned __int128 beside_squares;
} ppi_interference_pair;

typedef struct ppi_interference_range {
  uint64_t start_ns, end_ns;
  uint32_t site, stream, stage;
  uint32_t met;         // the stage met, + 1; 0: none, UINT32_MAX: several
  bool is_first_calls;  // it may turn out to be cold
  uint32_t num_beside;
  uint64_t since_ns;  // while any is beside: beside_ns holds the time before it
  uint64_t beside_ns;
} ppi_interference_range;

// A call that is a measure, unless it turns out to be cold.
typedef struct ppi_interference_call {
  ppi_first_call call;
  uint32_t stage, met;  // as of the range
} ppi_interference_call;

// All zero is the empty one.
typedef struct ppi_interference {
  ppi_map stage_numbers, pair_numbers;
  ppi_interference_stage *stages;
  size_t num_stages, stages_capacity;
  ppi_interference_pair *pairs;
  size_t num_pairs, pairs_capacity;
  ppi_interference_range *waiting;  // for a horizon behind their start
  size_t num_waiting, waiting_capacity;
  ppi_interference_call *first_calls;
  size_t num_first_calls, first_calls_capacity;
  size_t most_first_calls;  // calls of a stage that may be cold; 0: none
  ppi_interference_range active[PPI_INTERFERENCE_MAX_ACTIVE];
  size_t num_active;
  uint64_t now_ns;  // what lies before it is counted
} ppi_interference;

// ppi_interference_take takes a timed device range that is a stage's own: no
// kernel or copy, and not projected.
pprof_status ppi_interference_take(ppi_interference *interference,
                                   const pprof_event *event, uint32_t device);
// ppi_interference_settle promises that no range that begins before
// `horizon_ns` comes later. UINT64_MAX ends it.
pprof_status ppi_interference_settle(ppi_interference *interference,
                                     uint64_t horizon_ns);
// ppi_interference_fill comes once the calls of all sites are split.
pprof_status ppi_interference_fill(ppi_interference *interference,
                                   ppi_run_ids *ids, ppi_figures *out);
void ppi_interference_clear(ppi_interference *interference);

PPROF_END_C_
