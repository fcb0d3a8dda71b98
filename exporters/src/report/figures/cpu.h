// SPDX-License-Identifier: Apache-2.0
//
// The CPU use of one name's host ranges. Integers only, so adding and merging
// in any order gives equal results.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/event.h"

PPROF_BEGIN_C_

// All zero is the empty one. Sums cover the ranges in `num_known`. All fields
// are sums: fields.h adds them up as words.
typedef struct ppi_cpu_sums {
  uint64_t num_asked;   // ranges for which `cpu` was on
  uint64_t num_known;   // of those, ranges with times
  uint64_t num_queued;  // of these, ranges with the run-queue time
  uint64_t real_ns, user_ns, sys_ns, inner_ns, run_queue_ns;
  uint64_t voluntary, involuntary, minor_faults, major_faults;
  // Sums over `num_queued`: recorded waits, blocked time without a recorded
  // wait, recorded waits on a processor.
  uint64_t waits_ns, unrecorded_ns, on_processor_ns;
} ppi_cpu_sums;

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns, uint64_t waits_ns);
void ppi_cpu_sums_merge(ppi_cpu_sums *into, const ppi_cpu_sums *from);

// Waits of one lane that an outer range has not counted yet. All zero is the
// empty one; the caller frees `items`.
typedef struct ppi_wait_inside {
  uint64_t start_ns, length_ns;
} ppi_wait_inside;
typedef struct ppi_waits_inside {
  ppi_wait_inside *items;
  size_t num, capacity;
} ppi_waits_inside;

// False: out of memory.
bool ppi_waits_inside_add(ppi_waits_inside *waits, uint64_t start_ns,
                          uint64_t length_ns);
// ppi_waits_inside_of sums up the waits since `start_ns`, a range's begin.
// Outer ranges count these waits, too.
uint64_t ppi_waits_inside_of(ppi_waits_inside *waits, uint64_t start_ns);

PPROF_END_C_
