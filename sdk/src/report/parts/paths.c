// SPDX-License-Identifier: Apache-2.0
#include "report/parts/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/rows.h"

pprof_status ppi_paths_at(ppi_paths *paths, const ppi_run_path *key,
                          uint32_t *out) {
  uint32_t around = paths->is_flat ? 0 : key->around;
  const ppi_map_key numbers = {(uint64_t)around << 1 | key->on_device,
                               key->site};
  *out = 0;
  if (paths->num >= PPI_RUN_MAX_PATHS &&
      ppi_map_find(&paths->numbers, numbers) >= paths->num)
    return PPROF_STATUS_OK;
  size_t at = ppi_map_number(&paths->numbers, numbers);
  if (at > paths->num) return PPROF_STATUS_NO_MEMORY;
  if (at == paths->num) {
    ppi_run_path *grown =
        ppi_grow(paths->items, &paths->capacity, at + 1, sizeof *grown);
    if (!grown) return PPROF_STATUS_NO_MEMORY;
    paths->items = grown;
    grown[paths->num++] = (ppi_run_path){.around = around,
                                         .site = key->site,
                                         .on_device = key->on_device,
                                         .low_ns = UINT64_MAX};
  }
  *out = (uint32_t)at + 1;
  return PPROF_STATUS_OK;
}

pprof_status ppi_paths_find(ppi_paths *paths, uint32_t around, uint32_t site,
                            uint32_t *out) {
  const ppi_run_path key = {.around = around, .site = site};
  return ppi_paths_at(paths, &key, out);
}

static pprof_status add_time(ppi_run_path *path, uint64_t length_ns,
                             bool is_cut) {
  ppi_spread_add_either(&path->spread, length_ns, is_cut);
  if (is_cut) return PPROF_STATUS_OK;
  return ppi_histogram_add(&path->times, length_ns);
}

pprof_status ppi_paths_count(ppi_paths *paths) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < paths->num_lengths && status == PPROF_STATUS_OK; i++) {
    const ppi_path_length *length = &paths->lengths[i];
    ppi_run_path *path = &paths->items[length->number - 1];
    if (PPI_UNLIKELY(length->flags & (PPI_HELD_COUNTED))) {
      status = add_time(path, length->ns, length->flags & PPI_HELD_CUT);
      continue;
    }
    ppi_spread_add(&path->rest, length->ns);
    status = ppi_histogram_add(&path->rest_times, length->ns);
  }
  paths->num_lengths = 0;
  return status;
}

static pprof_status tell(ppi_run_path *path, ppi_spread *spread,
                         ppi_histogram *times) {
  ppi_spread_merge(spread, &path->rest);
  ppi_spread_merge(&path->spread, &path->rest);
  pprof_status status = ppi_histogram_merge(times, &path->rest_times);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_histogram_move(&path->times, &path->rest_times);
}

pprof_status ppi_paths_tell(ppi_paths *paths, ppi_run_ids *ids, bool stages) {
  pprof_status status = ppi_paths_count(paths);
  for (size_t i = 0; i < paths->num && status == PPROF_STATUS_OK; i++) {
    ppi_run_path *path = &paths->items[i];
    if (!path->rest.n) continue;
    ppi_run_site *site = ids->sites.items[path->site];
    status = stages ? tell(path, &site->host_early.rest,
                           &site->host_early.rest_times)
                    : tell(path, &site->row.host, &site->row.host_times);
  }
  return status;
}

// A paired one's host range is its call, and has its time inside.
pprof_status ppi_paths_device(ppi_paths *paths, uint32_t around,
                              const ppi_point *point, uint32_t *out) {
  const ppi_run_path key = {
      .around = around, .site = point->site, .on_device = true};
  *out = 0;
  if (point->device_class == PPI_DEVICE_PAIRED) return PPROF_STATUS_OK;
  pprof_status status = ppi_paths_at(paths, &key, out);
  if (status != PPROF_STATUS_OK) return status;
  ppi_run_path *path = ppi_paths_item(paths, *out);
  if (!path) {
    paths->num_dropped++;
    return PPROF_STATUS_OK;
  }
  path->num_untimed += point->kind == PPI_POINT_UNTIMED;
  if (point->kind == PPI_POINT_UNTIMED) return PPROF_STATUS_OK;
  path->inside.ns[point->device_class] += point->value;
  status = ppi_union_add(&path->own, point->device_start_ns,
                         point->device_start_ns + point->value);
  return status == PPROF_STATUS_OK ? add_time(path, point->value, false)
                                   : status;
}

// ---- ids become names ----

// As of names: with kernels other device ranges have no part in device times.
static uint64_t device_time(const ppi_run_ids *ids, const uint64_t *ns) {
  uint64_t sum_ns = ns[PPI_DEVICE_KERNEL] + ns[PPI_DEVICE_COPY];
  if (ids->has_kernels) return sum_ns;
  sum_ns += ns[PPI_DEVICE_OTHER];
  return ns[PPI_DEVICE_PAIRED] <= INT64_MAX ? sum_ns + ns[PPI_DEVICE_PAIRED]
                                            : sum_ns;
}

// Between events around it: of a stage whose calls have such a device side.
static uint64_t event_time(const ppi_run_ids *ids, const ppi_run_path *path) {
  const uint64_t *ns = path->inside.ns;
  if (path->on_device) return ns[PPI_DEVICE_OTHER];
  const ppi_run_site *site = ids->sites.items[path->site];
  bool is_known = site->row.has_pairs && ns[PPI_DEVICE_PAIRED] <= INT64_MAX;
  return is_known ? ns[PPI_DEVICE_PAIRED] : 0;
}

// The key of `around`, if any, then this one's own part. Paths come after those
// around them.
static char *make_key(char *const *keys, const ppi_run_path *path,
                      const ppi_report_path *row) {
  const char *around = path->around ? keys[path->around - 1] : "";
  size_t size =
      strlen(around) + strlen(row->name) + strlen(row->category_name) + 4;
  char *key = ppi_alloc(size);
  if (key)
    snprintf(key, size, "%s%s%s" PPI_PATH_CATEGORY "%s%s", around,
             *around ? PPI_PATH_STEP : "", row->name, row->category_name,
             row->on_device ? PPI_PATH_DEVICE : "");
  return key;
}

typedef struct named_path {
  ppi_report_path row;
  ppi_run_path *path;
} named_path;

static int compare_keys(const void *left, const void *right) {
  const named_path *a = left, *b = right;
  return strcmp(a->row.key, b->row.key);
}

static pprof_status fill_path(ppi_run_ids *ids, const named_path *from,
                              ppi_figures *out) {
  ppi_run_path *path = from->path;
  ppi_report_path *row = ppi_figures_path(out, &from->row);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  uint64_t inner_ns = PPI_MIN(path->inner_ns, path->spread.sum);
  ppi_spread_merge(&row->spread, &path->spread);
  row->num_untimed += path->num_untimed;
  row->self_ns +=
      path->on_device ? path->spread.sum : path->spread.sum - inner_ns;
  row->wall_ns +=
      path->on_device ? ppi_union_measure(&path->own) : path->wall_ns;
  row->device_ns += device_time(ids, path->inside.ns);
  if (ids->has_kernels) row->events_ns += event_time(ids, path);
  path->use.busy_ns = ppi_union_measure(&path->busy);
  if (ppi_device_use_merge(&row->use, &path->use) != PPROF_STATUS_OK)
    return PPROF_STATUS_NO_MEMORY;
  return ppi_histogram_move(&row->times, &path->times);
}

static pprof_status note_dropped(const ppi_paths *paths, ppi_figures *out) {
  char text[160];
  if (!paths->num_dropped) return PPROF_STATUS_OK;
  snprintf(text, sizeof text,
           "%llu ranges on paths beyond the first %u are not in the tree",
           (unsigned long long)paths->num_dropped, PPI_RUN_MAX_PATHS);
  return ppi_figures_note(out, "paths", text);
}

static pprof_status name_paths(ppi_paths *paths, ppi_run_ids *ids, char **keys,
                               named_path *out) {
  for (size_t i = 0; i < paths->num; i++) {
    ppi_run_path *path = &paths->items[i];
    const ppi_run_site *site = ppi_run_site_at(ids, path->site);
    if (!site) return PPROF_STATUS_NO_MEMORY;
    out[i].path = path;
    out[i].row = (ppi_report_path){.name = site->name,
                                   .category_name = site->place->name,
                                   .on_device = path->on_device};
    out[i].row.key = keys[i] = make_key(keys, path, &out[i].row);
    if (!keys[i]) return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

// Sorted first, so that each path is appended to the sorted table.
pprof_status ppi_paths_fill(ppi_paths *paths, ppi_run_ids *ids,
                            ppi_figures *out) {
  char **keys = ppi_alloc((paths->num + 1) * sizeof *keys);
  named_path *named = ppi_alloc((paths->num + 1) * sizeof *named);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  if (keys && named) status = note_dropped(paths, out);
  if (status == PPROF_STATUS_OK) status = name_paths(paths, ids, keys, named);
  if (status == PPROF_STATUS_OK && paths->num > 1)
    qsort(named, paths->num, sizeof *named, compare_keys);
  for (size_t i = 0; i < paths->num && status == PPROF_STATUS_OK; i++)
    status = fill_path(ids, &named[i], out);
  for (size_t i = 0; keys && i < paths->num; i++) ppi_free(keys[i]);
  ppi_free(keys);
  ppi_free(named);
  return status;
}

void ppi_paths_clear(ppi_paths *paths) {
  for (size_t i = 0; i < paths->num; i++) {
    ppi_histogram_clear(&paths->items[i].times);
    ppi_histogram_clear(&paths->items[i].rest_times);
    ppi_device_use_clear(&paths->items[i].use);
    ppi_union_clear(&paths->items[i].own);
    ppi_union_clear(&paths->items[i].busy);
  }
  ppi_map_clear(&paths->numbers);
  ppi_free(paths->items);
  *paths = (ppi_paths){0};
}
