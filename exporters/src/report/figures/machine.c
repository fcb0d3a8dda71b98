// SPDX-License-Identifier: Apache-2.0
//
// Adds up the figures of the machine and of the interpreter.
#include "report/figures/machine.h"

#include "base/base.h"

static void add_trouble(ppi_machine_trouble *into,
                        const ppi_machine_trouble *from) {
  into->num += from->num;
  into->ns += from->ns;
  into->quota_ns += from->quota_ns;
  into->swap_ns += from->swap_ns;
  into->ready_ns += from->ready_ns;
  bool is_same = strcmp(into->stage, from->stage) == 0;
  if (is_same) {
    into->slow += from->slow;
    into->covered += from->covered;
    into->excess_ns += from->excess_ns;
  } else if (from->excess_ns > into->excess_ns) {
    memcpy(into->stage, from->stage, sizeof into->stage);
    into->slow = from->slow;
    into->covered = from->covered;
    into->excess_ns = from->excess_ns;
  }
}

static void add_mean(ppi_machine_mean *into, const ppi_machine_mean *from) {
  into->sum += from->sum;
  into->ns += from->ns;
  into->most = PPI_MAX(into->most, from->most);
}

double ppi_machine_mean_of(const ppi_machine_mean *mean) {
  return mean->ns ? mean->sum / (double)mean->ns : 0;
}

void ppi_machine_figures_add(ppi_machine_figures *into,
                             const ppi_machine_figures *from) {
  double all_ns = (double)(into->observed_ns + from->observed_ns);
  if (all_ns > 0)
    into->others = (into->others * (double)into->observed_ns +
                    from->others * (double)from->observed_ns) /
                   all_ns;
  into->num_events += from->num_events;
  into->observed_ns += from->observed_ns;
  into->cpu_max = PPI_MAX(into->cpu_max, from->cpu_max);
  into->processors = PPI_MAX(into->processors, from->processors);
  for (int i = 0; i < PPI_MACHINE_DEVICES; i++) {
    ppi_machine_device *device = &into->devices[i];
    const ppi_machine_device *other = &from->devices[i];
    for (int k = 0; k < PPI_NUM_MACHINE_CAUSES; k++)
      add_trouble(&into->troubles[k][i], &from->troubles[k][i]);
    add_mean(&device->sm_mhz, &other->sm_mhz);
    add_mean(&device->capped_mhz, &other->capped_mhz);
    device->sm_max_mhz = PPI_MAX(device->sm_max_mhz, other->sm_max_mhz);
    device->hides_processes |= other->hides_processes;
  }
}

void ppi_interpreter_figures_add(ppi_interpreter_figures *into,
                                 const ppi_interpreter_figures *from) {
  for (int i = 0; i < PPI_GENERATIONS; i++) {
    ppi_collections *to = &into->collections[i];
    const ppi_collections *of = &from->collections[i];
    to->num += of->num;
    to->ns += of->ns;
    to->longest_ns = PPI_MAX(to->longest_ns, of->longest_ns);
    to->units += of->units;
    to->units_hit += of->units_hit;
    to->are_requests |= of->are_requests;
  }
  if (from->held.ns > into->held.ns) into->held = from->held;
  if (from->lock.ns > into->lock.ns) into->lock = from->lock;
}

bool ppi_is_of_device_memory(const char *call) {
  static const char *const begins[] = {
      "cudaMalloc", "cudaFree",   "cuMemAlloc",   "cuMemFree", "cuMemCreate",
      "cuMemMap",   "cuMemUnmap", "cuMemRelease", "hipMalloc", "hipFree"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(call, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}
