// SPDX-License-Identifier: Apache-2.0
//
// Asks the driver that the program has loaded. It is never loaded here.
#include "cupti_driver.h"

#include <dlfcn.h>
#include <string.h>

static void find(void *driver, const char *name, void *out) {
  void *found = dlsym(driver, name);
  memcpy(out, &found, sizeof found);
}

static void *hold_driver(void) {
  return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

int ppi_cupti_driver_answer(void) {
  void *driver = hold_driver();
  int (*count)(int *) = NULL;
  int num, result = PPI_CUPTI_DRIVER_UNUSED;
  if (!driver) return result;
  find(driver, "cuDeviceGetCount", &count);
  if (count) result = count(&num);
  dlclose(driver);
  return result;
}

bool ppi_cupti_driver_is_used(void) {
  void *driver = hold_driver();
  int (*count)(int *) = NULL;
  int (*state)(int, unsigned *, int *) = NULL;
  int num = 0, is_active = 0;
  unsigned flags;
  if (!driver) return false;
  find(driver, "cuDeviceGetCount", &count);
  find(driver, "cuDevicePrimaryCtxGetState", &state);
  int result = count ? count(&num) : 0;
  for (int i = 0; i < num && state && result == 0 && !is_active; i++)
    if (state(i, &flags, &is_active) != 0) is_active = 0;
  dlclose(driver);
  return is_active || result == PPI_CUPTI_DRIVER_ENDED;
}

// By the driver's numbers of device attributes.
ppi_device_limits ppi_cupti_driver_limits(int device) {
  enum {
    THREADS = 39,
    MAJOR = 75,
    SHARED = 81,
    REGISTERS = 82,
    BLOCKS = 106,
    RESERVED = 111
  };
  ppi_device_limits limits = {0};
  uint32_t *const out[] = {&limits.major,          &limits.shared_bytes,
                           &limits.registers,      &limits.blocks,
                           &limits.reserved_bytes, &limits.threads};
  static const int numbers[] = {MAJOR,  SHARED,   REGISTERS,
                                BLOCKS, RESERVED, THREADS};
  int (*get)(int *, int, int) = NULL;
  void *driver = hold_driver();
  if (!driver) return limits;
  find(driver, "cuDeviceGetAttribute", &get);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && get; i++) {
    int value = 0;
    if (get(&value, numbers[i], device) == 0) *out[i] = (uint32_t)value;
  }
  dlclose(driver);
  return limits;
}
