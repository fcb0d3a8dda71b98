// SPDX-License-Identifier: Apache-2.0
//
// Nested paired device ranges: the time of each without its inner ranges.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

// Inner paired ranges of one lane and stream that wait for their outer range,
// by start. Two become one when no later range can begin between them.
typedef struct ppi_run_pairs {
  uint32_t lane, stream;
  struct {
    uint64_t start_ns, sum_ns;
  } * items;
  size_t num, capacity;
} ppi_run_pairs;

// By lane, then stream. All zero is the empty one.
typedef struct ppi_pairs {
  ppi_run_pairs *items;
  size_t num, capacity;
} ppi_pairs;

// ppi_run_pair_time subtracts inner paired ranges from the device time of a
// timed paired range. Inner ranges add their own time to host ranges. A host
// range then has the time of its outermost paired range. Inner ranges come
// first: they end first on their stream.
bool ppi_run_pair_time(ppi_pairs *all, const pprof_event *event,
                       uint64_t *length_ns);
// ppi_run_settle_pairs forgets ranges that no later range can contain.
bool ppi_run_settle_pairs(ppi_pairs *all, const pprof_checkpoint *checkpoint);
void ppi_run_clear_pairs(ppi_pairs *all);

PPROF_END_C_
