// SPDX-License-Identifier: Apache-2.0
//
// The memory that the program has taken in each place, as far as it was
// reported.
#pragma once

#include "base/map.h"

PPROF_BEGIN_C_

typedef struct ppi_levels {
  ppi_map places;
  uint64_t *bytes;  // by the place's number there
  size_t capacity;
} ppi_levels;

// ppi_levels_change answers the level of a place, named by its site, after a
// change. Freeing memory that was never taken here leaves 0.
uint64_t ppi_levels_change(ppi_levels *levels, uint32_t site, uint64_t bytes,
                           bool is_taken);
void ppi_levels_clear(ppi_levels *levels);

PPROF_END_C_
