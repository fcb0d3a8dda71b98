// SPDX-License-Identifier: Apache-2.0
//
// Reads the calling thread's stack of open device ranges.
#include "device/device_open.h"

#include "mark/thread.h"

static uint32_t num_open(const ppi_thread *thread) {
  return thread ? PPI_MIN(thread->device_depth, PPI_DEVICE_STACK) : 0;
}

bool ppi_device_find_open(const void *stream, pprof_device **out_device) {
  const ppi_thread *thread = ppi_thread_self;
  for (uint32_t i = num_open(thread); i-- > 0;)
    if (thread->devices.stack[i].stream == stream) {
      *out_device = thread->devices.stack[i].device;
      return true;
    }
  return false;
}

bool ppi_device_has_open(const pprof_device *device, const void *stream) {
  const ppi_thread *thread = ppi_thread_self;
  for (uint32_t i = num_open(thread); i-- > 0;)
    if (thread->devices.stack[i].stream == stream &&
        thread->devices.stack[i].device == device)
      return true;
  return false;
}
