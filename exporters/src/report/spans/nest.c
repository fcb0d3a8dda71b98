// SPDX-License-Identifier: Apache-2.0
//
// Makes room for ranges that wait for the range around them.
#include "report/spans/nest.h"

#include <string.h>

#include "base/mem.h"

static void fuse(ppi_nest *nest, bool any_depth) {
  size_t kept = 0, end = nest->num - PPI_NEST_RECENT;
  for (size_t i = 0; i < end; i++) {
    const ppi_nest_item *item = &nest->items[i];
    ppi_nest_item *last = kept ? &nest->items[kept - 1] : NULL;
    if (last && (any_depth || last->depth == item->depth)) {
      if (item->start_ns < last->start_ns) last->start_ns = item->start_ns;
      if (item->end_ns > last->end_ns) last->end_ns = item->end_ns;
      last->sum_ns += item->sum_ns;
    } else {
      nest->items[kept++] = *item;
    }
  }
  memmove(nest->items + kept, nest->items + end,
          PPI_NEST_RECENT * sizeof *nest->items);
  nest->num = kept + PPI_NEST_RECENT;
}

bool ppi_nest_make_room(ppi_nest *nest) {
  if (nest->num == PPI_NEST_MAX) {
    fuse(nest, false);
    if (nest->num > PPI_NEST_MAX - PPI_NEST_RECENT) fuse(nest, true);
  }
  return PPI_ROOM(nest->items, nest->capacity, nest->num + 1);
}

void ppi_nest_clear(ppi_nest *nest) {
  ppi_free(nest->items);
  *nest = (ppi_nest){0};
}
