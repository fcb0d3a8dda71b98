// SPDX-License-Identifier: Apache-2.0
//
// Keeps the calls of a stage in one run, in any order, in eight bytes each: a
// call's start counts from the start of the call added before it.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// A `since` of PPI_CALL_FAR is no time: the next item has the start.
#define PPI_CALL_FAR INT32_MIN
struct ppi_call {
  int32_t since;
  float duration_ns;
};

typedef struct ppi_calls {
  struct ppi_call *items;
  size_t num_items, capacity;
  size_t num;
  double total_ns;
  // The first call's start and duration; of several, the shortest call.
  uint64_t first_start_ns, first_ns;
  uint64_t last_ns;      // when the latest one began
  bool is_out_of_order;  // a call began before the call added before it
} ppi_calls;

void ppi_calls_add(ppi_calls *calls, uint64_t start_ns, uint64_t duration_ns);
// ppi_calls_move appends the calls of `from` and empties it.
void ppi_calls_move(ppi_calls *from, ppi_calls *to);
// ppi_calls_durations fills in the durations, in the order of the calls'
// starts, without the first num_skipped. Frees the calls.
void ppi_calls_durations(ppi_calls *calls, size_t num_skipped, float *out);
void ppi_calls_clear(ppi_calls *calls);

PPROF_END_C_
