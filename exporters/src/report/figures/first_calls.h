// SPDX-License-Identifier: Apache-2.0
//
// The first calls of a stage, in the order of time, separate from the rest.
// They decide for all views which calls are cold; docs/tables.md defines the
// words. One thread at a time.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// The number of calls among which cold ones are found.
#define PPI_FIRST_CALLS 128

// The stated work of some calls' ranges.
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
  uint32_t lane;  // + 1, for calls that nest; else 0
} ppi_first_call;

// ppi_first_calls_most answers how many first calls `warmup` needs (negative:
// found). The first steady one is among them.
size_t ppi_first_calls_most(long warmup);
// ppi_first_calls_compare orders calls by time.
int ppi_first_calls_compare(const void *left, const void *right);
// ppi_first_calls_num_cold answers how many of a run's first calls, in order,
// are cold: `warmup`. A negative `warmup` counts the calls before the first
// usual one with another usual one among the next two.
size_t ppi_first_calls_num_cold(const ppi_first_call *calls, size_t num,
                                long warmup);
// ppi_units_num_cold does so for `items`, each of `size` bytes, that begin with
// start_ns and end_ns.
size_t ppi_units_num_cold(const void *items, size_t num, size_t size,
                          long warmup);

// All zero is the empty one. The order in which calls come does not change
// `calls`.
typedef struct ppi_first_calls {
  ppi_first_call *calls;  // in the order of time
  size_t num, capacity;
  uint64_t full_ns;  // later calls are of the rest; 0: not full yet
  size_t num_cold;   // among `calls`, once split
  ppi_spread rest;
  ppi_histogram rest_times;
} ppi_first_calls;

// The cold and steady calls of a stage. If a run has cold calls, its first call
// is one. A call around others of its name is the outside of a recursion, so
// `first` leaves it out.
typedef struct ppi_phases {
  ppi_spread first;         // of each run, around no other call
  ppi_spread cold, steady;  // each call is in one of the two
  ppi_histogram steady_times;
  uint64_t cold_wall_ns;  // window time before the first steady call
} ppi_phases;

// ppi_first_calls_add keeps `call` if it is one of the first `most`, a number
// that stays the same for all calls.
bool ppi_first_calls_add(ppi_first_calls *first_calls,
                         const ppi_first_call *call, size_t most);
// ppi_first_calls_is_rest: a call is not among the first ones, so that the
// faster ppi_first_calls_add_rest takes it. Nearly all calls are of the rest.
static inline bool ppi_first_calls_is_rest(const ppi_first_calls *first_calls,
                                           uint64_t start_ns) {
  return first_calls->full_ns && start_ns > first_calls->full_ns;
}
static inline bool ppi_first_calls_add_rest(ppi_first_calls *first_calls,
                                            uint64_t length_ns) {
  ppi_spread_add(&first_calls->rest, length_ns);
  return ppi_histogram_add(&first_calls->rest_times, length_ns);
}
// ppi_first_calls_sum adds all calls to `spread` and `times`.
bool ppi_first_calls_sum(const ppi_first_calls *first_calls, ppi_spread *spread,
                         ppi_histogram *times);
// ppi_first_calls_join adds the calls of another site.
bool ppi_first_calls_join(ppi_first_calls *first_calls,
                          const ppi_first_calls *from, size_t most);
// ppi_first_calls_split separates cold and steady calls of one run, and adds
// them to `into`.
bool ppi_first_calls_split(ppi_first_calls *first_calls, long warmup,
                           ppi_phases *into);
// ppi_first_calls_is_cold takes any call, once the run's calls are split.
bool ppi_first_calls_is_cold(const ppi_first_calls *first_calls,
                             const ppi_first_call *call);
// ppi_first_calls_steady_ns answers when the first steady call began; 0: no
// call was cold; UINT64_MAX: no call is steady.
uint64_t ppi_first_calls_steady_ns(const ppi_first_calls *first_calls);
void ppi_first_calls_clear(ppi_first_calls *first_calls);

bool ppi_phases_merge(ppi_phases *into, const ppi_phases *from);
void ppi_phases_clear(ppi_phases *phases);
void ppi_phases_carry(ppi_carry *carry, ppi_phases *phases);

PPROF_END_C_
