// SPDX-License-Identifier: Apache-2.0
//
// Adds up the CPU use of host ranges.
#include "report/figures/cpu.h"

#include "base/base.h"
#include "base/mem.h"

// Clamps CPU use to the range's length: the kernel's readings lie a moment
// outside of the range.
static pprof_cpu_use within(const pprof_cpu_use *use, uint64_t real_ns) {
  pprof_cpu_use kept = *use;
  kept.user_ns = PPI_MIN(use->user_ns, real_ns);
  kept.sys_ns = PPI_MIN(use->sys_ns, real_ns - kept.user_ns);
  uint64_t rest_ns = real_ns - kept.user_ns - kept.sys_ns;
  kept.run_queue_ns = PPI_MIN(use->run_queue_ns, rest_ns);
  return kept;
}

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns, uint64_t waits_ns) {
  sums->num_asked++;
  if (!(use->known & PPROF_CPU_TIMES)) return;
  sums->num_known++;
  sums->num_queued += (use->known & PPROF_CPU_RUN_QUEUE) != 0;
  const pprof_cpu_use kept = within(use, real_ns);
  sums->real_ns += real_ns;
  sums->user_ns += kept.user_ns;
  sums->sys_ns += kept.sys_ns;
  sums->inner_ns += use->inner_ns;
  sums->run_queue_ns += kept.run_queue_ns;
  sums->voluntary += use->voluntary_switches;
  sums->involuntary += use->involuntary_switches;
  sums->minor_faults += use->minor_faults;
  sums->major_faults += use->major_faults;
  if (!(use->known & PPROF_CPU_RUN_QUEUE)) return;
  uint64_t off_ns = real_ns - kept.user_ns - kept.sys_ns;
  uint64_t blocked_ns = off_ns - kept.run_queue_ns;
  sums->waits_ns += waits_ns;
  sums->unrecorded_ns += blocked_ns - PPI_MIN(blocked_ns, waits_ns);
  sums->on_processor_ns += waits_ns - PPI_MIN(off_ns, waits_ns);
}

void ppi_cpu_sums_merge(ppi_cpu_sums *into, const ppi_cpu_sums *from) {
  into->num_asked += from->num_asked;
  into->num_known += from->num_known;
  into->num_queued += from->num_queued;
  into->real_ns += from->real_ns;
  into->user_ns += from->user_ns;
  into->sys_ns += from->sys_ns;
  into->inner_ns += from->inner_ns;
  into->run_queue_ns += from->run_queue_ns;
  into->voluntary += from->voluntary;
  into->involuntary += from->involuntary;
  into->minor_faults += from->minor_faults;
  into->major_faults += from->major_faults;
  into->waits_ns += from->waits_ns;
  into->unrecorded_ns += from->unrecorded_ns;
  into->on_processor_ns += from->on_processor_ns;
}

bool ppi_waits_inside_add(ppi_waits_inside *waits, uint64_t start_ns,
                          uint64_t length_ns) {
  enum { MOST = 4096 };
  // So many waits lie in no measured range, or in a long one: they become one.
  if (waits->num == MOST) {
    waits->num = 0;
    uint64_t all_ns = 0;
    for (size_t i = 0; i < MOST; i++) all_ns += waits->items[i].length_ns;
    waits->items[waits->num++].length_ns = all_ns;
  }
  if (!PPI_ROOM(waits->items, waits->capacity, waits->num + 1)) return false;
  waits->items[waits->num++] = (ppi_wait_inside){start_ns, length_ns};
  return true;
}

uint64_t ppi_waits_inside_of(ppi_waits_inside *waits, uint64_t start_ns) {
  uint64_t all_ns = 0;
  while (waits->num && waits->items[waits->num - 1].start_ns >= start_ns)
    all_ns += waits->items[--waits->num].length_ns;
  if (all_ns) waits->items[waits->num++] = (ppi_wait_inside){start_ns, all_ns};
  return all_ns;
}
