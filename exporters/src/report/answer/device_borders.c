// SPDX-License-Identifier: Apache-2.0
//
// Lists when devices begin and end work, last first.
#include "report/answer/device_borders.h"

#include "base/base.h"
#include "base/sort.h"

typedef struct listing {
  uint64_t from_ns, to_ns;
  ppi_device_border *borders;
  size_t num;
} listing;

static int compare_borders(const void *left, const void *right) {
  const ppi_device_border *a = left, *b = right;
  if (a->time != b->time) return a->time < b->time ? 1 : -1;
  return (a->kind > b->kind) - (a->kind < b->kind);
}

static uint64_t from_the_last(const void *border) {
  return UINT64_MAX - ((const ppi_device_border *)border)->time;
}

static bool is_within(const listing *to, uint64_t ns) {
  return ns >= to->from_ns && ns < to->to_ns;
}

static void add_border(listing *to, uint64_t ns, size_t item,
                       ppi_device_border_kind kind) {
  uint64_t time = ns == UINT64_MAX ? ns : ns + 1;
  to->borders[to->num++] = (ppi_device_border){time, (uint32_t)item, kind};
}

static void add_item(listing *to, const ppi_item *item, size_t number) {
  uint64_t start_ns = item->device_start_ns, end_ns = item->device_end_ns;
  if (end_ns == 0) return;
  if (item->flags & PPI_ITEM_BORROWS && is_within(to, item->start_ns))
    add_border(to, item->start_ns, number, PPI_DEVICE_SUBMIT);
  if (is_within(to, start_ns))
    add_border(to, start_ns, number, PPI_DEVICE_BEGIN);
  if (end_ns > start_ns && start_ns < to->to_ns && end_ns > to->from_ns)
    add_border(to, PPI_MIN(end_ns, to->to_ns), number, PPI_DEVICE_END);
}

size_t ppi_device_borders_list(const ppi_item *items, size_t num_items,
                               uint64_t from_ns, uint64_t to_ns,
                               ppi_device_border *out) {
  listing to = {from_ns, to_ns, out, 0};
  for (size_t i = 0; i < num_items; i++) add_item(&to, &items[i], i);
  ppi_sort(out, to.num, sizeof *out, from_the_last, compare_borders);
  return to.num;
}
