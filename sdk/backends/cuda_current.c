// SPDX-License-Identifier: Apache-2.0
//
// Finds the device of the context that is current on a thread, for the markers
// of pprof/cuda.h. Runs on the marking threads.
#include "pprof/cuda.h"

#include <dlfcn.h>
#include <string.h>

#include "backend_util.h"
#include "base/uncancelled.h"
#include "device/device_open.h"

#define LOOK_EVERY_NS 1000000u
#define KNOWN_DEVICES 64
#define CODE_NOT_INITIALIZED 3
#define CODE_DEINITIALIZED 4
#define CODE_INVALID_CONTEXT 201

typedef int current_device(int *out_index);

static struct {
  current_device *ask;  // of the program's driver, once that is there; atomic
  uint64_t look_at_ns;  // atomic
  uint32_t generation;  // the session in which it was found; atomic
  pprof_device *devices[KNOWN_DEVICES];  // atomic
} driver;

// A sticky error makes the driver refuse; its ranges stay on the device.
static __thread pprof_device *latest __attribute__((tls_model("initial-exec")));

// The Runtime loads the driver at the program's first call. Looking for a
// mapped library takes the loader's lock, so it is not done at every marker.
static current_device *find_driver(void) {
  uint64_t now_ns = ppi_backend_now_ns();
  uint64_t due_ns = __atomic_load_n(&driver.look_at_ns, __ATOMIC_RELAXED);
  if (now_ns < due_ns ||
      !__atomic_compare_exchange_n(&driver.look_at_ns, &due_ns,
                                   now_ns + LOOK_EVERY_NS, false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return NULL;
  void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!handle) return NULL;
  void *found = dlsym(handle, "cuCtxGetDevice");
  current_device *ask = NULL;
  memcpy(&ask, &found, sizeof ask);
  __atomic_store_n(&driver.generation, ppi_backend_generation,
                   __ATOMIC_RELAXED);
  __atomic_store_n(&driver.ask, ask, __ATOMIC_RELEASE);
  return ask;
}

static pprof_device *device_at(int index) {
  bool is_known = index >= 0 && index < KNOWN_DEVICES;
  pprof_device *device =
      is_known ? __atomic_load_n(&driver.devices[index], __ATOMIC_ACQUIRE)
               : NULL;
  if (device) return device;
  device = pprof_device_get(pprof_backend_cuda(), index);
  if (is_known)
    __atomic_store_n(&driver.devices[index], device, __ATOMIC_RELEASE);
  return device;
}

// Asked each time: a context's handle may come back for another device's.
pprof_device *pprof_cuda_device(void) {
  PPI_UNCANCELLED;
  int index = 0;
  current_device *ask = __atomic_load_n(&driver.ask, __ATOMIC_ACQUIRE);
  if (!ask) ask = find_driver();
  // A forked child must not call the driver that its parent used.
  if (!ask || __atomic_load_n(&driver.generation, __ATOMIC_RELAXED) !=
                  ppi_backend_generation)
    return NULL;
  switch (ask(&index)) {
    case 0:
      return latest = device_at(index);
    case CODE_NOT_INITIALIZED:
    case CODE_DEINITIALIZED:
    case CODE_INVALID_CONTEXT:
      return NULL;
    default:
      return latest;
  }
}

static bool is_default(const void *stream) {
  return (uintptr_t)stream <= 2;
}

// A default stream's handle is the same in every context: of several devices
// with a range open on it, the current one is meant.
static pprof_device *prefer(pprof_device *current, const void *stream,
                            pprof_device *innermost) {
  return current && ppi_device_has_open(current, stream) ? current : innermost;
}

// The device of the range that an end on `stream` ends; NULL: none is open, and
// the session counts the end.
static pprof_device *find_open(const void *stream) {
  pprof_device *device = NULL;
  if (ppi_device_find_open(stream, &device) && is_default(stream))
    device = prefer(pprof_cuda_device(), stream, device);
  return device;
}

void pprof_cuda_pop_(void *stream) {
  pprof_device_pop(find_open(stream), stream);
}

void pprof_cuda_next_(void *stream, pprof_site *site) {
  pprof_device *device = pprof_cuda_device();
  pprof_device *open = device;
  if (ppi_device_find_open(stream, &open) && is_default(stream))
    open = prefer(device, stream, open);
  if (open == device) {
    pprof_device_next(device, stream, site);
    return;
  }
  pprof_device_pop(open, stream);
  pprof_device_push(device, stream, site);
}

void pprof_cuda_work_(void *stream, const pprof_work_amount *work) {
  pprof_device_work(find_open(stream), stream, work);
}

pprof_device_token pprof_cuda_scope_push_(void *stream, pprof_site *site) {
  return pprof_device_scope_push_(pprof_cuda_device(), stream, site);
}
