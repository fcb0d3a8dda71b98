// SPDX-License-Identifier: Apache-2.0
//
// Keeps the memory that the program has taken, by place.
#include "kernels/levels.h"

#include "base/base.h"
#include "base/mem.h"

uint64_t ppi_levels_change(ppi_levels *levels, uint32_t site, uint64_t bytes,
                           bool is_taken) {
  size_t num = levels->places.num;
  if (!PPI_ROOM(levels->bytes, levels->capacity, num + 1)) return 0;
  uint64_t *grown = levels->bytes;
  size_t at = ppi_map_number(&levels->places, (ppi_map_key){0, site});
  if (at == SIZE_MAX) return 0;
  if (at == num) grown[at] = 0;
  grown[at] =
      is_taken ? grown[at] + bytes : grown[at] - PPI_MIN(grown[at], bytes);
  return grown[at];
}

void ppi_levels_clear(ppi_levels *levels) {
  ppi_map_clear(&levels->places);
  ppi_free(levels->bytes);
  *levels = (ppi_levels){0};
}
