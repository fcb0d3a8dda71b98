// SPDX-License-Identifier: Apache-2.0
//
// The first calls of a stage, in the order of time, apart from the rest, so
// that its beginning can be told from how it goes on. Which calls are cold is
// said here, for all views; docs/tables.md has the words. One thread at a time.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// So many are looked at to find the cold ones.
#define PPI_FIRST_CALLS 128

// What the ranges of some calls state that they did.
typedef struct ppi_amounts {
  double items, bytes, flops, params;
} ppi_amounts;

static inline void ppi_amounts_add(ppi_amounts *into, const ppi_amounts *from) {
  into->items += from->items;
  into->bytes += from->bytes;
  into->flops += from->flops;
  into->params += from->params;
}

typedef struct ppi_first_call {
  uint64_t start_ns, length_ns;
  ppi_amounts work;
  uint32_t lane;  // + 1, of calls that nest; else 0
} ppi_first_call;

// ppi_first_calls_most is how many first calls `warmup` (negative: as found)
// needs: the first steady one is among them.
size_t ppi_first_calls_most(long warmup);
// ppi_first_calls_compare orders calls by time.
int ppi_first_calls_compare(const void *left, const void *right);
// ppi_first_calls_num_cold answers how many of the first calls of a run, in
// order, are cold: `warmup` or, where it is negative, those before the first
// one that is usual and has another usual one among the next two.
size_t ppi_first_calls_num_cold(const ppi_first_call *calls, size_t num,
                                long warmup);

// All zero is the empty one. Which calls are `calls` does not depend on the
// order in which they come.
typedef struct ppi_first_calls {
  ppi_first_call *calls;  // a heap, the latest first; in order once split
  size_t num, capacity;
  uint64_t full_ns;  // what begins later is of the rest; 0: not known yet
  size_t num_cold;   // of calls, once split
  ppi_spread rest;
  ppi_histogram rest_times;
} ppi_first_calls;

// How a stage began and went on. The first call of each run is a cold one, too,
// when there are any. A call around others of its name is the outside of a
// recursion: it says nothing about how the stage began.
typedef struct ppi_phases {
  ppi_spread first;         // of each run, around no other
  ppi_spread cold, steady;  // all calls are one or the other
  ppi_histogram steady_times;
  uint64_t cold_wall_ns;  // of the windows, before the first steady call
} ppi_phases;

// ppi_first_calls_add keeps `call` if it is one of the `most` first, which are
// as many for all calls.
pprof_status ppi_first_calls_add(ppi_first_calls *first_calls,
                                 const ppi_first_call *call, size_t most);
// ppi_first_calls_is_rest: it is none of them, and ppi_first_calls_add_rest
// will do; so it is with nearly all calls.
static inline bool ppi_first_calls_is_rest(const ppi_first_calls *first_calls,
                                           uint64_t start_ns) {
  return first_calls->full_ns && start_ns > first_calls->full_ns;
}
static inline pprof_status ppi_first_calls_add_rest(
    ppi_first_calls *first_calls, uint64_t length_ns) {
  ppi_spread_add(&first_calls->rest, length_ns);
  return ppi_histogram_add(&first_calls->rest_times, length_ns);
}
// ppi_first_calls_sum adds all calls to the two.
pprof_status ppi_first_calls_sum(const ppi_first_calls *first_calls,
                                 ppi_spread *spread, ppi_histogram *times);
// ppi_first_calls_join adds the calls of another site.
pprof_status ppi_first_calls_join(ppi_first_calls *first_calls,
                                  const ppi_first_calls *from, size_t most);
// ppi_first_calls_split tells the calls of one run apart and adds them to
// `into`; NULL: nowhere.
pprof_status ppi_first_calls_split(ppi_first_calls *first_calls, long warmup,
                                   ppi_phases *into);
// ppi_first_calls_is_cold says it of any call, once the run's calls are split.
bool ppi_first_calls_is_cold(const ppi_first_calls *first_calls,
                             const ppi_first_call *call);
// ppi_first_calls_steady_ns is when the first steady call began, after calls
// that were cold; 0: there were none; UINT64_MAX: no steady ones.
uint64_t ppi_first_calls_steady_ns(const ppi_first_calls *first_calls);
void ppi_first_calls_clear(ppi_first_calls *first_calls);

pprof_status ppi_phases_merge(ppi_phases *into, const ppi_phases *from);
void ppi_phases_clear(ppi_phases *phases);

PPROF_END_C_
