// SPDX-License-Identifier: Apache-2.0
//
// Which times of a trace are of one clock. Those of another one, and 0 for an
// unknown time, lie years from the others.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Ten years: no program runs so long, and no two clocks that count from
// different years are closer.
#define PPI_CLOCK_GAP_NS (INT64_C(315569520) * 1000000000)
// More than the clocks that all times can have.
#define PPI_MAX_CLOCKS 32

typedef enum ppi_timed {
  PPI_TIMED_FRAME,
  PPI_TIMED_HOST,
  PPI_TIMED_DEVICE
} ppi_timed;

// Times of one clock, and of how many events they are.
typedef struct ppi_clock {
  int64_t min_ns, max_ns;
  uint64_t num[PPI_TIMED_DEVICE + 1];
} ppi_clock;

typedef struct ppi_clocks {
  ppi_clock items[PPI_MAX_CLOCKS];
  size_t num;
  ppi_clock zero;  // of events at 0 exactly
} ppi_clocks;

void ppi_clocks_add(ppi_clocks *clocks, int64_t start_ns, int64_t end_ns,
                    ppi_timed what);
// ppi_clocks_choose answers the clock that most host events have, or where no
// host decides most device events; NULL where none has most.
const ppi_clock *ppi_clocks_choose(ppi_clocks *clocks);
