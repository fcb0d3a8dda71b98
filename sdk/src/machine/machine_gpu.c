// SPDX-License-Identifier: Apache-2.0
//
// Samples NVIDIA's devices: clock, power and causes of slow clocks often, rare
// changes and costly values once a second.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_nvml.h"

// NVML's numbers of a clock and of the one sensor.
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };
// A list of processes is the dearest answer. A process that begins or ends
// changes the memory that is in use; else one list in MOST_UNLISTED answers is
// enough.
enum { MOST_UNLISTED = 8 };
// The first process namespace: the driver uses its process numbers.
#define FIRST_NAMESPACE "pid:[4026531836]"

typedef struct gpu {
  bool sees_processes;
  int num_others;
  unsigned unlisted;  // answers since the processes were listed
  unsigned long long listed_bytes;
} gpu;

static const ppi_nvml *nvml;
static gpu gpus[PPI_NVML_DEVICES];
static bool in_first_namespace;

bool ppi_machine_open_gpu(void) {
  char link[64] = "";
  nvml = ppi_nvml_open();
  for (size_t i = 0; i < PPI_NVML_DEVICES; i++)
    gpus[i].unlisted = MOST_UNLISTED;
  ssize_t len = readlink("/proc/self/ns/pid", link, sizeof link - 1);
  in_first_namespace = len > 0 && !strcmp(link, FIRST_NAMESPACE);
  return nvml != NULL;
}

static void put(size_t index, const char *what, double value) {
  char name[40];
  snprintf(name, sizeof name, "gpu:%zu.%s", index, what);
  ppi_machine_put(name, value);
}

static void sample_clocks(size_t i) {
  ppi_nvml_device device = nvml->devices[i];
  unsigned value;
  unsigned long long reasons;
  if (nvml->clock && nvml->clock(device, CLOCK_SM, &value) == 0)
    put(i, "sm_mhz", value);
  if (nvml->reasons && nvml->reasons(device, &reasons) == 0)
    put(i, "event_reasons", (double)reasons);
}

static void sample_power(size_t i) {
  ppi_nvml_device device = nvml->devices[i];
  unsigned value;
  if (nvml->power && nvml->power(device, &value) == 0)
    put(i, "power_w", value / 1e3);
}

static void sample_limits(size_t i) {
  ppi_nvml_device device = nvml->devices[i];
  unsigned value;
  ppi_nvml_utilization use;
  if (nvml->clock && nvml->clock(device, CLOCK_MEMORY, &value) == 0)
    put(i, "memory_mhz", value);
  if (nvml->max_clock && nvml->max_clock(device, CLOCK_SM, &value) == 0)
    put(i, "sm_max_mhz", value);
  if (nvml->power_limit && nvml->power_limit(device, &value) == 0)
    put(i, "power_limit_w", value / 1e3);
  if (nvml->temperature && nvml->temperature(device, SENSOR_GPU, &value) == 0)
    put(i, "temperature_c", value);
  if (nvml->utilization && nvml->utilization(device, &use) == 0)
    put(i, "busy_percent", use.gpu);
}

// -1: unknown. In a container or a virtual machine, a driver that does not list
// us may list no process.
static int other_processes(gpu *of, ppi_nvml_device device) {
  ppi_nvml_process all[PPI_NVML_PROCESSES];
  unsigned num = PPI_NVML_PROCESSES;
  int others = 0;
  bool has_own = false;
  if (!nvml->processes || nvml->processes(device, &num, all) != 0) return -1;
  for (unsigned i = 0; i < num; i++) {
    bool is_own = all[i].pid == (unsigned)getpid();
    has_own |= is_own;
    others += !is_own;
  }
  of->sees_processes |= has_own;
  return of->sees_processes || (in_first_namespace && others > 0) ? others : -1;
}

static bool must_list(gpu *of, const ppi_nvml_memory *memory) {
  bool is_same = memory && memory->used == of->listed_bytes;
  if (is_same && of->unlisted++ < MOST_UNLISTED) return false;
  of->unlisted = 0;
  of->listed_bytes = memory ? memory->used : 0;
  return true;
}

static void sample_memory(gpu *to, size_t i) {
  ppi_nvml_device device = nvml->devices[i];
  ppi_nvml_memory memory;
  bool is_known = nvml->memory && nvml->memory(device, &memory) == 0;
  if (is_known) put(i, "memory_bytes", (double)memory.used);
  if (must_list(to, is_known ? &memory : NULL))
    to->num_others = other_processes(to, device);
  put(i, "other_processes", to->num_others);
}

bool ppi_machine_open_gpu_state(void) {
  return ppi_machine_open_gpu();
}

bool ppi_machine_open_gpu_use(void) {
  return ppi_machine_open_gpu();
}

void ppi_machine_sample_gpu(void) {
  for (size_t i = 0; i < nvml->num; i++) {
    sample_clocks(i);
    sample_power(i);
  }
}

void ppi_machine_sample_gpu_state(void) {
  for (size_t i = 0; i < nvml->num; i++) sample_limits(i);
}

void ppi_machine_sample_gpu_use(void) {
  for (size_t i = 0; i < nvml->num; i++) sample_memory(&gpus[i], i);
}

// The energy since the driver was loaded. The call is slow, so this is a source
// of its own.
static bool read_energy(size_t i, double *out) {
  unsigned long long mj;
  if (nvml->energy(nvml->devices[i], &mj) != 0) return false;
  *out = (double)mj / 1e3;
  return true;
}

bool ppi_machine_open_gpu_energy(void) {
  double joules;
  if (!ppi_machine_open_gpu()) return false;
  if (nvml->energy && read_energy(0, &joules)) return true;
  ppi_nvml_close();
  return false;
}

void ppi_machine_sample_gpu_energy(void) {
  double joules;
  for (size_t i = 0; i < nvml->num; i++)
    if (read_energy(i, &joules)) put(i, "energy_j", joules);
}
