// SPDX-License-Identifier: Apache-2.0
//
// The thread for which an open wait waits.
#pragma once

#include "event/recorded_wait.h"
#include "spool/spool.h"

// The OS thread for which a wait waits; 0: unknown. The wait is `frame`, at
// `depth` of the lane at `offset` of the file. Only for ranges of category
// Wait.
static inline uint32_t ppi_forensics_waits_for(int fd, const ppi_lane *lane,
                                               const ppi_frame *frame,
                                               uint64_t offset,
                                               uint32_t depth) {
  pprof_numbers numbers = {0};
  uint64_t at = offset + (uint64_t)lane->frames_at +
                offsetof(ppi_deep_stack, numbers) + depth * sizeof numbers;
  if (!(frame->flags & PPI_FRAME_NUMBERS) ||
      pread(fd, &numbers, sizeof numbers, (off_t)at) != sizeof numbers ||
      numbers.num != PPI_WAIT_NUMBERS)
    return 0;
  return (uint32_t)numbers.values[PPI_WAIT_BY];
}
