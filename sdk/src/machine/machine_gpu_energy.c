// SPDX-License-Identifier: Apache-2.0
//
// Samples the energy of NVIDIA's devices since the driver was loaded. The call
// is slow, so this is a source of its own.
#include <stdio.h>

#include "machine/machine_nvml.h"

static const ppi_nvml *nvml;
static ppi_machine_level levels[PPI_NVML_DEVICES];

static bool read_energy(size_t i, double *out) {
  unsigned long long mj;
  if (nvml->energy(nvml->devices[i], &mj) != 0) return false;
  *out = (double)mj / 1e3;
  return true;
}

static bool open_energy(void) {
  double joules;
  nvml = ppi_nvml_open();
  if (!nvml) return false;
  if (nvml->energy && read_energy(0, &joules)) return true;
  ppi_nvml_close();
  return false;
}

static void sample_energy(void) {
  for (size_t i = 0; i < nvml->num; i++) {
    char name[40];
    double joules;
    if (!read_energy(i, &joules)) continue;
    snprintf(name, sizeof name, "gpu:%zu.energy_j", i);
    ppi_machine_put(&levels[i], name, joules);
  }
}

static void close_energy(void) {
  ppi_nvml_close();
}

const ppi_machine_source ppi_machine_gpu_energy = {
    "gpu_energy", "libnvidia-ml.so.1", 1000000000,  8,
    open_energy,  sample_energy,       close_energy};
