// SPDX-License-Identifier: Apache-2.0
//
// Adds up queue delays of a run by site and device.
#include "report/parts/queues.h"

#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"

static int compare(const void *left, const void *right) {
  const ppi_run_queue *a = left, *b = right;
  return ppi_keyed_order((uint64_t[]){a->site, a->device},
                         (uint64_t[]){b->site, b->device});
}

ppi_queue *ppi_queues_at(ppi_queues *all, uint32_t site, uint32_t device) {
  const ppi_run_queue key = {.site = site, .device = device};
  ppi_run_queue *queue = ppi_keyed_sorted(
      PPI_KEYED(all->items, all->num, all->capacity), &key, compare);
  return queue ? &queue->sums : NULL;
}

bool ppi_queues_fill(const ppi_queues *all, ppi_run_ids *ids,
                     ppi_figures *out) {
  for (size_t i = 0; i < all->num; i++) {
    const ppi_run_queue *from = &all->items[i];
    ppi_run_site *site = ppi_run_site_at(ids, from->site);
    ppi_run_device *device = ppi_run_device_at(ids, from->device);
    if (!site || !device) return false;
    const ppi_report_queue row = {.name = site->name,
                                  .category_name = site->place->name,
                                  .device = device->name,
                                  .sums = from->sums};
    if (!ppi_figures_add_row(out, PPI_FIGURES_queues, &row)) return false;
  }
  return true;
}

void ppi_queues_clear(ppi_queues *all) {
  for (size_t i = 0; i < all->num; i++)
    ppi_histogram_clear(&all->items[i].sums.delays);
  ppi_free(all->items);
  *all = (ppi_queues){0};
}
