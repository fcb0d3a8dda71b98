// SPDX-License-Identifier: Apache-2.0
//
// A thread's state for its device markers (device_mark.c, device_stream.c,
// inject.c).
#pragma once

#include "pprof/device.h"

#define PPI_DEVICE_STACK 64u

// A thread's entry of a stream's handle. It is used only in its session, and
// only until the backend answers otherwise.
#define PPI_KNOWN_STREAMS 8u
typedef struct ppi_known_stream {
  const void *session;  // of the device
  uint32_t serial;
  void *handle;
  pprof_stream_info info;
  uint32_t pool;  // index of its event pool
  uint32_t at;    // its place in the session's table + 1, 0: none
  uint32_t id;    // the one there
} ppi_known_stream;

typedef struct ppi_open_device_range {
  pprof_device *device;
  void *stream;
  uint64_t range;  // 0: lost, kept for the balance
} ppi_open_device_range;

// A device range beside a range of the stack in `domain`, at `level`.
typedef struct ppi_beside {
  uint32_t domain;
  int level;
  uint64_t range;
  pprof_device *device;
  void *stream;
} ppi_beside;

typedef struct ppi_thread_devices {
  ppi_open_device_range stack[PPI_DEVICE_STACK];
  ppi_beside beside[PPI_DEVICE_STACK];
  ppi_known_stream known[PPI_KNOWN_STREAMS];
} ppi_thread_devices;
