// SPDX-License-Identifier: Apache-2.0
//
// Sums of CPU use, for the report.
#include "report/figures/cpu.h"

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns) {
  sums->num_asked++;
  if (!(use->known & PPROF_CPU_TIMES)) return;
  sums->num_known++;
  sums->num_queued += (use->known & PPROF_CPU_RUN_QUEUE) != 0;
  sums->real_ns += real_ns;
  sums->user_ns += use->user_ns;
  sums->sys_ns += use->sys_ns;
  sums->inner_ns += use->inner_ns;
  sums->run_queue_ns += use->run_queue_ns;
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
