// SPDX-License-Identifier: Apache-2.0
//
// Adds up queue delays of a run by site and device.
#include "report/parts/queues.h"

#include <string.h>

#include "base/mem.h"
#include "report/figures/rows.h"

ppi_queue *ppi_queues_at(ppi_queues *all, uint32_t site, uint32_t device) {
  size_t low = 0, high = all->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const ppi_run_queue *queue = &all->items[middle];
    if (queue->site < site || (queue->site == site && queue->device < device))
      low = middle + 1;
    else
      high = middle;
  }
  ppi_run_queue *found = all->items + low;
  if (low < all->num && found->site == site && found->device == device)
    return &found->sums;
  if (!PPI_ROOM(all->items, all->capacity, all->num + 1)) return NULL;
  ppi_run_queue *grown = all->items;
  memmove(grown + low + 1, grown + low, (all->num - low) * sizeof *grown);
  all->num++;
  grown[low] = (ppi_run_queue){.site = site, .device = device};
  return &grown[low].sums;
}

bool ppi_queues_fill(const ppi_queues *all, ppi_run_ids *ids,
                     ppi_figures *out) {
  for (size_t i = 0; i < all->num; i++) {
    const ppi_run_queue *from = &all->items[i];
    ppi_run_site *site = ppi_run_site_at(ids, from->site);
    ppi_run_device *device = ppi_run_device_at(ids, from->device);
    ppi_run_category *category =
        site ? ppi_run_category_at(ids, site->category) : NULL;
    if (!category || !device) return false;
    ppi_report_queue key = {.name = site->name,
                            .category_name = category->name,
                            .device = device->name};
    ppi_report_queue *queue = ppi_figures_queue(out, &key);
    if (!queue) return false;
    if (!ppi_queue_merge(&queue->sums, &from->sums)) return false;
  }
  return true;
}

void ppi_queues_clear(ppi_queues *all) {
  for (size_t i = 0; i < all->num; i++) ppi_queue_clear(&all->items[i].sums);
  ppi_free(all->items);
  *all = (ppi_queues){0};
}
