// SPDX-License-Identifier: Apache-2.0
//
// Adds up delays of device ranges by site and device, and kernels by name and
// launch shape.
#include "report/parts/launches.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"

// ---- queue delays ----

PPI_ORDER(compare, ppi_run_queue, PPI_UP(site) PPI_UP(device))

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

// ---- launch shapes ----

// Attributes may be defined again, with the same shape or with another one.
static bool is_same(const ppi_shapes *shapes, size_t latest,
                    const ppi_launch_shape *shape) {
  return latest &&
         ppi_launch_shape_compare(&shapes->items[latest - 1], shape) == 0;
}

bool ppi_shapes_define(ppi_shapes *shapes, uint32_t id, const char *text) {
  ppi_launch_shape shape;
  const ppi_map_key key = {0, id};
  size_t num = shapes->ids.num;
  bool is_shape = ppi_launch_shape_read(text, &shape);
  if (!is_shape && ppi_map_find(&shapes->ids, key) == SIZE_MAX) return true;
  if (!PPI_ROOM(shapes->latest, shapes->latest_capacity, num + 1)) return false;
  size_t *latest = shapes->latest;
  size_t at = ppi_map_number(&shapes->ids, key);
  if (at == SIZE_MAX) return false;
  if (at == num) latest[at] = 0;
  if (!is_shape) latest[at] = 0;
  if (!is_shape || is_same(shapes, latest[at], &shape)) return true;
  if (!PPI_PUSH(shapes->items, shapes->num, shapes->capacity, shape))
    return false;
  latest[at] = shapes->num;
  return true;
}

static ppi_report_shape *row_of(ppi_shapes *shapes, uint32_t site,
                                size_t shape) {
  const ppi_run_shape fresh = {.site = site,
                               .sums = {.shape = shapes->items[shape]}};
  ppi_run_shape *row = ppi_keyed_mapped(
      PPI_KEYED(shapes->rows, shapes->num_rows, shapes->rows_capacity),
      &shapes->row_numbers, (ppi_map_key){site, shape}, &fresh);
  return row ? &row->sums : NULL;
}

bool ppi_shapes_take(ppi_shapes *shapes, const pprof_event *event,
                     uint64_t length_ns) {
  if (!event->attributes) return true;
  size_t at = ppi_map_find(&shapes->ids, (ppi_map_key){0, event->attributes});
  if (at == SIZE_MAX || !shapes->latest[at]) return true;
  ppi_report_shape *row = row_of(shapes, event->site, shapes->latest[at] - 1);
  if (!row) return false;
  ppi_spread_add(&row->spread, length_ns);
  return ppi_histogram_add(&row->times, length_ns);
}

bool ppi_shapes_fill(const ppi_shapes *shapes, ppi_run_ids *ids,
                     ppi_figures *out) {
  for (size_t i = 0; i < shapes->num_rows; i++) {
    const ppi_run_site *site = ppi_run_site_at(ids, shapes->rows[i].site);
    ppi_report_shape row = shapes->rows[i].sums;
    if (!site) return false;
    row.name = site->name;
    if (!ppi_figures_add_row(out, PPI_FIGURES_shapes, &row)) return false;
  }
  return true;
}

void ppi_shapes_clear(ppi_shapes *shapes) {
  for (size_t i = 0; i < shapes->num_rows; i++)
    ppi_histogram_clear(&shapes->rows[i].sums.times);
  ppi_map_clear(&shapes->ids);
  ppi_map_clear(&shapes->row_numbers);
  PPI_FREE_ALL(shapes->latest, shapes->items, shapes->rows);
}
