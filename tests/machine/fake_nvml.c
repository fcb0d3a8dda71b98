// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for NVML: devices and what they say stand in the file that
// FAKE_NVML names, read at each call. Lines "devices N" and "DEVICE.KEY VALUE";
// what has no line is not supported.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL __attribute__((visibility("default"))) int

enum { DONE = 0, NOT_SUPPORTED = 3 };

typedef struct memory {
  unsigned long long total, free, used;
} memory;
typedef struct process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} process;
typedef struct utilization {
  unsigned gpu, memory;
} utilization;

CALL nvmlInit_v2(void);
CALL nvmlShutdown(void);
CALL nvmlDeviceGetCount_v2(unsigned *out);
CALL nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out);
CALL nvmlDeviceGetHandleByUUID(const char *uuid, void **out);
CALL nvmlDeviceGetPowerUsage(void *device, unsigned *out);
CALL nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *out);
CALL nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out);
CALL nvmlDeviceGetClockInfo(void *device, int type, unsigned *out);
CALL nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *out);
CALL nvmlDeviceGetCurrentClocksEventReasons(void *device,
                                            unsigned long long *out);
CALL nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out);
CALL nvmlDeviceGetMemoryInfo(void *device, memory *out);
CALL nvmlDeviceGetUtilizationRates(void *device, utilization *out);
CALL nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *num,
                                             process *out);

static int value_of(const char *key, double *out) {
  const char *path = getenv("FAKE_NVML");
  FILE *file = path ? fopen(path, "r") : NULL;
  char name[64];
  double value;
  int found = NOT_SUPPORTED;
  while (file && found && fscanf(file, "%63s %lf", name, &value) == 2) {
    if (strcmp(name, key) != 0) continue;
    *out = value;
    found = DONE;
  }
  if (file) fclose(file);
  return found;
}

// A handle is the device's number and 1.
static int ask(void *device, const char *key, double *out) {
  char name[64];
  snprintf(name, sizeof name, "%d.%s", (int)((size_t)device - 1), key);
  return value_of(name, out);
}

static int ask_unsigned(void *device, const char *key, unsigned *out) {
  double value = 0;
  int status = ask(device, key, &value);
  *out = (unsigned)value;
  return status;
}

static int ask_long(void *device, const char *key, unsigned long long *out) {
  double value = 0;
  int status = ask(device, key, &value);
  *out = (unsigned long long)value;
  return status;
}

CALL nvmlInit_v2(void) {
  double devices;
  return value_of("devices", &devices);
}

CALL nvmlShutdown(void) {
  return DONE;
}

CALL nvmlDeviceGetCount_v2(unsigned *out) {
  double devices = 0;
  int status = value_of("devices", &devices);
  *out = (unsigned)devices;
  return status;
}

CALL nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) {
  unsigned num = 0;
  nvmlDeviceGetCount_v2(&num);
  *out = (void *)((size_t)index + 1);
  return index < num ? DONE : NOT_SUPPORTED;
}

// "GPU-1" is device 1.
CALL nvmlDeviceGetHandleByUUID(const char *uuid, void **out) {
  if (strncmp(uuid, "GPU-", 4) != 0) return NOT_SUPPORTED;
  return nvmlDeviceGetHandleByIndex_v2((unsigned)atoi(uuid + 4), out);
}

CALL nvmlDeviceGetPowerUsage(void *device, unsigned *out) {
  return ask_unsigned(device, "power_mw", out);
}

CALL nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *out) {
  return ask_unsigned(device, "limit_mw", out);
}

CALL nvmlDeviceGetTotalEnergyConsumption(void *device,
                                         unsigned long long *out) {
  return ask_long(device, "energy_mj", out);
}

CALL nvmlDeviceGetClockInfo(void *device, int type, unsigned *out) {
  return ask_unsigned(device, type == 1 ? "sm_mhz" : "memory_mhz", out);
}

CALL nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *out) {
  return ask_unsigned(device, type == 1 ? "sm_max_mhz" : "memory_max_mhz", out);
}

CALL nvmlDeviceGetCurrentClocksEventReasons(void *device,
                                            unsigned long long *out) {
  return ask_long(device, "reasons", out);
}

CALL nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out) {
  (void)sensor;
  return ask_unsigned(device, "celsius", out);
}

CALL nvmlDeviceGetMemoryInfo(void *device, memory *out) {
  *out = (memory){0};
  return ask_long(device, "memory_bytes", &out->used);
}

CALL nvmlDeviceGetUtilizationRates(void *device, utilization *out) {
  *out = (utilization){0};
  return ask_unsigned(device, "busy", &out->gpu);
}

// "others N": so many besides the asking process, which is listed unless
// "hidden 1" says that nobody is.
CALL nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *num,
                                             process *out) {
  unsigned others = 0, hidden = 0, most = *num;
  ask_unsigned(device, "others", &others);
  ask_unsigned(device, "hidden", &hidden);
  *num = hidden ? 0 : others + 1;
  for (unsigned i = 0; i < *num && i < most; i++)
    out[i] = (process){i ? 1u : (unsigned)getpid(), 0, 0, 0};
  return DONE;
}
