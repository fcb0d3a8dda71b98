// SPDX-License-Identifier: Apache-2.0
//
// Makes room for ranges that wait for the range around them.
#include "report/spans/nest.h"

#include <string.h>

#include "base/mem.h"

static void fuse(ppi_nest *nest, bool any_depth) {
  size_t num = (size_t)(nest->top - nest->items);
  size_t kept = 0, end = num - PPI_NEST_RECENT;
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
  nest->top = nest->items + kept + PPI_NEST_RECENT;
}

bool ppi_nest_make_room(ppi_nest *nest) {
  size_t num = (size_t)(nest->top - nest->items), capacity = num;
  if (num == PPI_NEST_MAX) {
    fuse(nest, false);
    if (nest->top > nest->items + PPI_NEST_MAX - PPI_NEST_RECENT)
      fuse(nest, true);
    return true;
  }
  if (!PPI_ROOM(nest->items, capacity, num + 1)) return false;
  nest->top = nest->items + num;
  nest->end = nest->items + PPI_MIN(capacity, PPI_NEST_MAX);
  return true;
}

void ppi_nest_clear(ppi_nest *nest) {
  ppi_free(nest->items);
  *nest = (ppi_nest){0};
}
