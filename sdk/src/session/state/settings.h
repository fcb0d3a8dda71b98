// SPDX-License-Identifier: Apache-2.0
//
// A session's settings before its start.
#pragma once

#include "event/texts.h"
#include "kernels/source.h"
#include "pprof/session.h"

typedef enum ppi_device_mode {
  PPI_DEVICE_MODE_EVENTS = 0,
  PPI_DEVICE_MODE_OFF = 1
} ppi_device_mode;

typedef struct ppi_settings {
  pprof_options options;
  ppi_device_mode device_mode;
  bool graph_nodes;
  const ppi_kernel_source *kernels;  // NULL: none
  bool kernels_are_on;               // else devices are asked by events alone
  bool by_capture;                   // of graphs: where they were captured, too
  bool all_calls;                    // of the device's API, where it is traced
  uint64_t ring_bytes;
  ppi_texts info;
} ppi_settings;
