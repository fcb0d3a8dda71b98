// SPDX-License-Identifier: Apache-2.0
//
// Finds the stage with more slow calls in given stretches of time than by
// chance.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/intervals.h"
#include "report/limit/limit_calls.h"

PPROF_BEGIN_C_

typedef struct ppi_slow_call {
  uint64_t start_ns, end_ns;
  uint64_t excess_ns;  // beyond the median of its stage
} ppi_slow_call;

typedef struct ppi_slow_stage {
  const char *name;
  uint64_t median_ns;
  size_t first, num;  // in `calls`
} ppi_slow_stage;

// All zero is the empty one.
typedef struct ppi_slow_calls {
  ppi_slow_call *calls;
  size_t num_calls, calls_capacity;
  ppi_slow_stage *stages;
  size_t num, capacity;
} ppi_slow_calls;

// ppi_slow_calls_find finds the slow calls of all stages; it borrows the names.
pprof_status ppi_slow_calls_find(const ppi_limit_calls *calls,
                                 ppi_slow_calls *out);
// ppi_slow_calls_meet sets `out` to the stage that loses most in `stretches`,
// which lie in [from_ns, to_ns).
void ppi_slow_calls_meet(const ppi_slow_calls *slow,
                         const ppi_intervals *stretches, uint64_t from_ns,
                         uint64_t to_ns, ppi_machine_trouble *out);
void ppi_slow_calls_clear(ppi_slow_calls *slow);

PPROF_END_C_
