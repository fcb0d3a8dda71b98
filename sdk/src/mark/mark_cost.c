// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a marker in this process: runs the stack markers on a
// lane of their own when a session starts.
#include "mark/mark_cost.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mark/frame.h"

#define COST_PAIRS 512
#define COST_RUNS 15

static int compare_costs(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a;
  uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t measure_cost_x1000(ppi_lane *lane, uint8_t *memory) {
  uint64_t ticks[COST_RUNS];
  for (int run = 0; run < COST_RUNS; run++) {
    lane->commit = PPI_SLOTS_PER_CHUNK << 16;
    uint64_t start = ppi_clock_ticks();
    for (int i = 0; i < COST_PAIRS; i++) {
      ppi_frame_push(lane, 1);
      ppi_frame_pop(memory, lane);
    }
    ticks[run] = ppi_clock_ticks() - start;
  }
  qsort(ticks, COST_RUNS, sizeof *ticks, compare_costs);
  ppi_scale scale = ppi_scale_make(0, ppi_clock_state.ticks_per_second);
  return ppi_scale_ns(&scale, ticks[COST_RUNS / 2]) * 1000 / (2 * COST_PAIRS);
}

static uint64_t wrapper_x1000;  // atomic

void pprof_mark_wrapped_(uint64_t ns_x1000) {
  __atomic_store_n(&wrapper_x1000, ns_x1000, __ATOMIC_RELAXED);
}

uint64_t ppi_mark_cost_x1000(void) {
  uint8_t *memory = ppi_alloc(2 * PPI_CHUNK_SIZE);
  if (!memory) return 0;
  ppi_lane *lane = (ppi_lane *)(void *)memory;
  lane->directory[1] = PPI_UNITS_PER_CHUNK;
  lane->capacity = 2 * PPI_SLOTS_PER_CHUNK;
  lane->frames_at = PPI_OWN_FRAMES_AT;
  lane->num_frames = PPI_LANE_FRAMES;
  uint64_t cost = measure_cost_x1000(lane, memory);
  ppi_free(memory);
  return cost + __atomic_load_n(&wrapper_x1000, __ATOMIC_RELAXED);
}
