// SPDX-License-Identifier: Apache-2.0
//
// How device ranges of one run share their devices: each stage's time alone,
// and each pair's time together. One thread at a time.
#pragma once

#include "base/map.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

// Further ranges that run at the same time are not measured.
enum { PPI_INTERFERENCE_MAX_ACTIVE = 256 };

// Timed device ranges of one site on one device.
typedef struct ppi_interference_stage {
  uint32_t site, device;
  ppi_report_interference sums;  // without names
  size_t num_begun;
  uint32_t num_active;
  uint64_t since_ns;  // while any is active; the sums have the time before
} ppi_interference_stage;

// Stage `of` while `by` ran on another stream.
typedef struct ppi_interference_pair {
  uint32_t of, by;               // stages
  uint32_t num_active;           // ranges of both that run side by side
  uint64_t since_ns;             // while any do; the sums have the time before
  ppi_report_interference sums;  // without names
} ppi_interference_pair;

typedef struct ppi_interference_range {
  uint64_t start_ns, end_ns;
  uint32_t site, stream, stage;
  uint32_t met;         // overlapping stage, + 1; 0: none, UINT32_MAX: several
  bool is_first_calls;  // its call may be cold
  uint32_t num_beside;
  uint64_t since_ns;  // while any is beside; beside_ns has the time before
  uint64_t beside_ns;
} ppi_interference_range;

// A call that counts as a measurement unless it is cold.
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
  ppi_interference_range *waiting;  // until a horizon passes their start
  size_t num_waiting, waiting_capacity;
  ppi_interference_call *first_calls;
  size_t num_first_calls, first_calls_capacity;
  size_t most_first_calls;  // calls of a stage that may be cold; 0: none
  ppi_interference_range active[PPI_INTERFERENCE_MAX_ACTIVE];
  size_t num_active;
  uint64_t now_ns;  // time before it is counted
} ppi_interference;

// ppi_interference_take takes a timed device range that is a stage's own: no
// kernel or copy, and not projected.
bool ppi_interference_take(ppi_interference *interference,
                           const pprof_event *event, uint32_t device);
// ppi_interference_settle promises that no range that begins before
// `horizon_ns` comes later. UINT64_MAX ends it.
bool ppi_interference_settle(ppi_interference *interference,
                             uint64_t horizon_ns);
// ppi_interference_fill comes once the calls of all sites are split.
bool ppi_interference_fill(ppi_interference *interference, ppi_run_ids *ids,
                           ppi_figures *out);
void ppi_interference_clear(ppi_interference *interference);

PPROF_END_C_
