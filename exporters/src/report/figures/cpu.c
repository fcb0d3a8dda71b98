// SPDX-License-Identifier: Apache-2.0
//
// Sums of CPU use, for the report.
#include "report/figures/cpu.h"

#include "base/base.h"

// The kernel is asked a moment outside of the range. No thread is on a
// processor or ready for one for longer than the range lasts.
static pprof_cpu_use within(const pprof_cpu_use *use, uint64_t real_ns) {
  pprof_cpu_use kept = *use;
  kept.user_ns = PPI_MIN(use->user_ns, real_ns);
  kept.sys_ns = PPI_MIN(use->sys_ns, real_ns - kept.user_ns);
  uint64_t rest_ns = real_ns - kept.user_ns - kept.sys_ns;
  kept.run_queue_ns = PPI_MIN(use->run_queue_ns, rest_ns);
  return kept;
}

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns) {
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
}
