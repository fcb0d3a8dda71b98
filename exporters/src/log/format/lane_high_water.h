// SPDX-License-Identifier: Apache-2.0
//
// By lane, the number below which records are already present. One thread.
#pragma once

#include "log/format/log_format.h"

typedef struct ppi_lane_high_water {
  uint64_t *items;
  size_t num, capacity;
} ppi_lane_high_water;

// CORRUPT when no session has that lane; NO_MEMORY.
pprof_status ppi_lane_high_water_raise(ppi_lane_high_water *ends, uint32_t lane,
                                       uint64_t end);
// From the block in `bytes`, if it is one of events.
pprof_status ppi_lane_high_water_raise_block(ppi_lane_high_water *ends,
                                             const uint8_t *bytes);
uint64_t ppi_lane_high_water_of(const ppi_lane_high_water *ends, uint32_t lane);
void ppi_lane_high_water_clear(ppi_lane_high_water *ends);
