// SPDX-License-Identifier: Apache-2.0
//
// How low a level of memory gets over time. What is given back again does not
// show there; what is kept raises each low that comes. One thread at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

enum { PPI_LOW_WATER_BINS = 64 };

// All zero is the empty one. A bin is 2^shift ns and begins at a multiple of
// it, so that the order of levels does not show.
typedef struct ppi_low_water {
  unsigned shift;
  uint64_t first;  // the bin of lows[0], counted from time 0
  size_t num_bins;
  uint64_t num_levels;
  uint64_t lows[PPI_LOW_WATER_BINS];  // bytes; UINT64_MAX: no level
} ppi_low_water;

// All zero: none that is sure.
typedef struct ppi_growth {
  uint64_t num_levels, num_lows, span_ns;
  double low_bytes;    // at the beginning of the span
  double bytes;        // more at its end
  double least_bytes;  // the lower end of the interval of 99.9 % of `bytes`
} ppi_growth;

void ppi_low_water_add(ppi_low_water *low, uint64_t time_ns, uint64_t bytes);

// ppi_low_water_growth looks at the lows after the first quarter of the time,
// in which programs fill what they keep: the slope of a line through them, with
// the interval of its error. Each third of them must get less low than the one
// before, and the last third must go on to grow: a level that rose once, or
// has levelled off, does not grow.
ppi_growth ppi_low_water_growth(const ppi_low_water *low);

// Of two runs the one that surely grew more.
void ppi_growth_merge(ppi_growth *into, const ppi_growth *from);

PPROF_END_C_
