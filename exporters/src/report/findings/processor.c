// SPDX-License-Identifier: Apache-2.0
//
// Computes the share of a stage's time that its thread was on a processor.
#include "report/findings/processor.h"

#include <string.h>

ppi_cpu_sums ppi_processor_of(const ppi_figures *figures, const char *name) {
  ppi_cpu_sums sums = {0};
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].cpu.num_known &&
        strcmp(figures->names[i].name, name) == 0)
      ppi_cpu_sums_merge(&sums, &figures->names[i].cpu);
  return sums;
}

double ppi_processor_share(const ppi_cpu_sums *sums) {
  enum { LEAST = 10 };
  if (sums->num_known < LEAST || !sums->real_ns) return -1;
  return (double)(sums->user_ns + sums->sys_ns) / (double)sums->real_ns;
}

double ppi_processor_queued(const ppi_cpu_sums *sums) {
  if (sums->num_queued < sums->num_known || !sums->real_ns) return 0;
  return (double)sums->run_queue_ns / (double)sums->real_ns;
}

double ppi_processor_ready(const ppi_cpu_sums *sums) {
  double share = ppi_processor_share(sums);
  return share < 0 ? share : share + ppi_processor_queued(sums);
}
