// SPDX-License-Identifier: Apache-2.0
//
// The number of a multiprocessor's warps that a launch can fill, from its
// kernel's needs.
#pragma once

#include "event/launch_shape.h"

PPROF_BEGIN_C_

// The limits of an NVIDIA device; threads 0: unknown.
typedef struct ppi_device_limits {
  uint32_t threads, blocks, registers;  // of a multiprocessor
  uint32_t shared_bytes;                // the same
  uint32_t reserved_bytes;              // of these, of each block
  uint32_t major;                       // compute capability
} ppi_device_limits;

// ppi_occupancy fills `permyriad` and `limit` of a shape; of several limits the
// first one of their list. Both stay unknown where the device's limits are, or
// no block fits. As CUDA's occupancy calculator has it: registers go to warps,
// 256 at a time, out of one of four files; shared memory to blocks, 128 bytes
// at a time (256 before compute capability 8).
void ppi_occupancy(const ppi_device_limits *limits, ppi_launch_shape *shape);

PPROF_END_C_
