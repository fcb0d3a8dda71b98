// SPDX-License-Identifier: Apache-2.0
//
// Keeps a growing array by lane.
#include "log/format/lane_high_water.h"

#include "base/base.h"
#include "base/mem.h"

// Lanes are numbered from zero; a session has at most 100 000. This bounds the
// memory that a damaged block makes us reserve.
#define MAX_LANES (1u << 22)

pprof_status ppi_lane_high_water_raise(ppi_lane_high_water *ends, uint32_t lane,
                                       uint64_t end) {
  if (lane >= MAX_LANES) return PPROF_STATUS_CORRUPT;
  if (!PPI_REACH(ends->items, ends->num, ends->capacity, (size_t)lane + 1))
    return PPROF_STATUS_NO_MEMORY;
  ends->items[lane] = PPI_MAX(ends->items[lane], end);
  return PPROF_STATUS_OK;
}

pprof_status ppi_lane_high_water_raise_block(ppi_lane_high_water *ends,
                                             const uint8_t *bytes) {
  ppi_log_header header;
  pprof_status status = PPROF_STATUS_OK;
  if (!ppi_log_header_load(bytes, &header) || header.type != PPI_LOG_EVENTS)
    return status;
  for (uint32_t i = 0; i < header.num_runs && status == PPROF_STATUS_OK; i++) {
    ppi_log_run run;
    ppi_log_run_load(bytes + PPI_LOG_HEADER_SIZE + (size_t)i * PPI_LOG_RUN_SIZE,
                     &run);
    status = ppi_lane_high_water_raise(ends, run.lane, run.end_seq);
  }
  return status;
}

uint64_t ppi_lane_high_water_of(const ppi_lane_high_water *ends,
                                uint32_t lane) {
  return lane < ends->num ? ends->items[lane] : 0;
}

void ppi_lane_high_water_clear(ppi_lane_high_water *ends) {
  ppi_free(ends->items);
  *ends = (ppi_lane_high_water){0};
}
