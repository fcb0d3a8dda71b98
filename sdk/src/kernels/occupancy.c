// SPDX-License-Identifier: Apache-2.0
//
// Computes how many warps a launch can fill.
#include "kernels/occupancy.h"

#define WARP 32u
#define REGISTER_UNIT 256u
#define REGISTER_FILES 4u

static uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static uint64_t by_registers(const ppi_device_limits *limits,
                             const ppi_launch_shape *shape, uint64_t warps) {
  uint64_t of_warp = round_up((uint64_t)shape->registers * WARP, REGISTER_UNIT);
  if (of_warp == 0) return UINT64_MAX;
  return limits->registers / REGISTER_FILES / of_warp * REGISTER_FILES / warps;
}

static uint64_t by_shared(const ppi_device_limits *limits,
                          const ppi_launch_shape *shape) {
  uint64_t unit = limits->major < 8 ? 256 : 128;
  uint64_t of_block =
      round_up((uint64_t)shape->shared_bytes + limits->reserved_bytes, unit);
  return of_block ? limits->shared_bytes / of_block : UINT64_MAX;
}

void ppi_occupancy(const ppi_device_limits *limits, ppi_launch_shape *shape) {
  uint64_t threads = shape->block[0];
  for (int i = 1; i < 3; i++) {
    threads *= shape->block[i];
    if (threads > limits->threads) return;
  }
  if (threads == 0 || threads > limits->threads) return;
  uint64_t warps = round_up(threads, WARP) / WARP;
  uint64_t most_warps = limits->threads / WARP;
  const uint64_t blocks[PPI_NUM_LIMITS] = {
      [PPI_LIMIT_UNKNOWN] = UINT64_MAX,
      [PPI_LIMIT_WARPS] = most_warps / warps,
      [PPI_LIMIT_BLOCKS] = limits->blocks ? limits->blocks : UINT64_MAX,
      [PPI_LIMIT_REGISTERS] = by_registers(limits, shape, warps),
      [PPI_LIMIT_SHARED_MEMORY] = by_shared(limits, shape)};
  uint32_t limit = PPI_LIMIT_WARPS;
  for (uint32_t i = limit + 1; i < PPI_NUM_LIMITS; i++)
    if (blocks[i] < blocks[limit]) limit = i;
  if (blocks[limit] == 0) return;
  shape->limit = limit;
  shape->permyriad =
      (uint32_t)((blocks[limit] * warps * 10000 + most_warps / 2) / most_warps);
}
