// SPDX-License-Identifier: Apache-2.0
//
// The CPU use of one name's host ranges. Integers only, so adding and merging
// in any order gives equal results.
#pragma once

#include <stdint.h>

#include "pprof/event.h"

PPROF_BEGIN_C_

// All zero is the empty one. Sums are of the ranges in `num_known`. All fields
// are sums: fields.h adds them up as words.
typedef struct ppi_cpu_sums {
  uint64_t num_asked;   // ranges whose use was asked for
  uint64_t num_known;   // of them: with times
  uint64_t num_queued;  // of these: with the time in the run queue
  uint64_t real_ns, user_ns, sys_ns, inner_ns, run_queue_ns;
  uint64_t voluntary, involuntary, minor_faults, major_faults;
} ppi_cpu_sums;

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns);
void ppi_cpu_sums_merge(ppi_cpu_sums *into, const ppi_cpu_sums *from);

PPROF_END_C_
