// SPDX-License-Identifier: Apache-2.0
//
// NVML as far as we call it, loaded when a source first asks. The sampler's
// thread.
#pragma once

#include "machine/source.h"

enum { PPI_NVML_DEVICES = 16, PPI_NVML_PROCESSES = 64 };

typedef struct ppi_nvml_memory {
  unsigned long long total, free, used;
} ppi_nvml_memory;

typedef struct ppi_nvml_process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} ppi_nvml_process;

typedef struct ppi_nvml_utilization {
  unsigned gpu, memory;
} ppi_nvml_utilization;

typedef void *ppi_nvml_device;

// Name, name in older drivers, arguments behind the device. All answer 0 when
// they did it; one that the driver lacks is NULL.
#define PPI_NVML_CALLS(each)                                                   \
  each(power, "nvmlDeviceGetPowerUsage", NULL, unsigned *) each(               \
      power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL,                    \
      unsigned *) each(energy, "nvmlDeviceGetTotalEnergyConsumption", NULL,    \
                       unsigned long long *)                                   \
      each(clock, "nvmlDeviceGetClockInfo", NULL, int, unsigned *) each(       \
          max_clock, "nvmlDeviceGetMaxClockInfo", NULL, int,                   \
          unsigned *) each(reasons, "nvmlDeviceGetCurrentClocksEventReasons",  \
                           "nvmlDeviceGetCurrentClocksThrottleReasons",        \
                           unsigned long long *)                               \
          each(temperature, "nvmlDeviceGetTemperature", NULL, int, unsigned *) \
              each(memory, "nvmlDeviceGetMemoryInfo", NULL, ppi_nvml_memory *) \
                  each(utilization, "nvmlDeviceGetUtilizationRates", NULL,     \
                       ppi_nvml_utilization *)                                 \
                      each(processes,                                          \
                           "nvmlDeviceGetComputeRunningProcesses_v3", NULL,    \
                           unsigned *, ppi_nvml_process *)

typedef struct ppi_nvml {
#define CALL(name, symbol, older, ...) \
  int (*name)(ppi_nvml_device, __VA_ARGS__);
  PPI_NVML_CALLS(CALL)
#undef CALL
  // The devices that the program can see, in CUDA's order.
  ppi_nvml_device devices[PPI_NVML_DEVICES];
  size_t num;
} ppi_nvml;

// ppi_nvml_open answers NULL where there is no library or no device. Each open
// needs a close.
const ppi_nvml *ppi_nvml_open(void);
void ppi_nvml_close(void);
// A child opens it again.
void ppi_nvml_in_forked_child(void);
