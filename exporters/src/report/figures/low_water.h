// SPDX-License-Identifier: Apache-2.0
//
// The lows of a memory level over time. Freed memory does not raise a low;
// leaked memory raises each later low. One thread at a time.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

enum { PPI_LOW_WATER_BINS = 64 };

// All zero is the empty one. A bin is 2^shift ns and begins at a multiple of
// 2^shift. The order of levels is irrelevant.
typedef struct ppi_low_water {
  unsigned shift;
  uint64_t first;  // the bin of lows[0], counted from time 0
  size_t num_bins;
  uint64_t num_levels;
  uint64_t lows[PPI_LOW_WATER_BINS];  // bytes; UINT64_MAX: no level
} ppi_low_water;

// All zero: no certain growth.
typedef struct ppi_growth {
  uint64_t num_levels, num_lows, span_ns;
  double low_bytes;    // at the begin of the span
  double bytes;        // growth until the end of the span
  double least_bytes;  // lower end of the 99.9 % interval of `bytes`
} ppi_growth;

void ppi_low_water_add(ppi_low_water *low, uint64_t time_ns, uint64_t bytes);

// ppi_low_water_growth fits a line to the lows, with the error of its slope. It
// leaves out the first quarter of the time, in which programs fill caches. Each
// third must have a higher minimum than the one before, and the last third must
// grow. A level that rose once, or has levelled off, does not.
ppi_growth ppi_low_water_growth(const ppi_low_water *low);

// ppi_growth_merge keeps the growth with the greater lower bound.
void ppi_growth_merge(ppi_growth *into, const ppi_growth *from);

PPROF_END_C_
