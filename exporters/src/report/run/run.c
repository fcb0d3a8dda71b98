// SPDX-License-Identifier: Apache-2.0
//
// Takes the begin, definitions and windows of a run that is being delivered.
#include "report/run/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/threads.h"

static bool define_site(ppi_run *run, const pprof_definition *definition) {
  uint32_t id = definition->id;
  ppi_run_site *site = ppi_run_item_at(&run->ids.sites, id, sizeof *site);
  if (!site) return false;
  bool is_used = site->place;
  // Retired jobs look names up.
  if (is_used && !ppi_line_end(&run->accounts.line)) return false;
  site->category = definition->parent;
  site->fold = ppi_run_fold_of(definition);
  site->place = NULL;
  site->is_defined = true;
  bool done = ppi_set_text(&site->name, pprof_definition_name(definition));
  // Buffered ranges need the site's place at their checkpoint.
  if (!done || !is_used) return done;
  return ppi_run_site_at(&run->ids, id);
}

static bool define_attributes(ppi_run *run,
                              const pprof_definition *definition) {
  uint32_t id = definition->id;
  const char *text = definition->name;
  return (!run->details.kernels ||
          ppi_captures_define(&run->captures, &run->ids, id, text)) &&
         ppi_shapes_define(&run->shapes, id, text);
}

static bool define(ppi_run *run, const pprof_definition *definition) {
  uint32_t id = definition->id;
  ppi_run_ids *ids = &run->ids;
  switch (definition->kind) {
    case PPROF_DEFINITION_SITE:
      return ppi_run_site_is_another(&run->labels, ids, definition)
                 ? ppi_run_label_site(&run->labels, ids, definition)
                 : define_site(run, definition);
    case PPROF_DEFINITION_CATEGORY: {
      ppi_run_category *category =
          ppi_run_item_at(&ids->categories, id, sizeof *category);
      return category && ppi_set_text(&category->name, definition->name);
    }
    case PPROF_DEFINITION_LANE:
      return ppi_run_lane_defined(ids, id, definition->number,
                                  definition->name);
    case PPROF_DEFINITION_DEVICE: {
      ppi_run_device *device = ppi_run_device_at(ids, id);
      return device && ppi_set_text(&device->name, definition->name);
    }
    case PPROF_DEFINITION_STREAM: {
      ppi_run_stream *stream =
          ppi_run_item_at(&ids->streams, id, sizeof *stream);
      if (stream) stream->device = definition->parent;
      return stream;
    }
    case PPROF_DEFINITION_ATTRIBUTES:
      return define_attributes(run, definition);
  }
  return true;
}

pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition) {
  if (definition->id >= PPI_RUN_MAX_ID || definition->parent >= PPI_RUN_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  return ppi_or_no_memory(define(run, definition));
}

static bool copy_text(char **out, const pprof_run_info *info, const char *key) {
  const char *text = pprof_run_info_text(info, key);
  *out = ppi_strdup(text ? text : "");
  return *out != NULL;
}

bool ppi_run_begin(ppi_run *run, const pprof_run_info *info) {
  run->rows.by_thread = run->details.by_thread;
  run->accounts.lanes.pool = &run->ids.pool;
  run->paths.is_flat = run->details.flat_paths;
  bool copied = copy_text(&run->ids.input.uuid, info, "uuid") &&
                copy_text(&run->ids.input.host, info, "host") &&
                copy_text(&run->ids.input.pid, info, "pid") &&
                copy_text(&run->ids.input.command, info, "command") &&
                copy_text(&run->ids.input.rank, info, "rank") &&
                copy_text(&run->ids.input.config, info, "config");
  const char *began = pprof_run_info_text(info, "time_base_realtime_ns");
  const char *flows = pprof_run_info_text(info, "flows");
  const char *clock = pprof_run_info_text(info, "clock");
  run->is_imported = clock && strcmp(clock, "imported") == 0;
  run->requests.are_links = flows && strcmp(flows, "links") == 0;
  run->ids.input.began_ns = began ? strtoull(began, NULL, 10) : 0;
  return copied;
}

static void insert_window(ppi_run *run, uint32_t index, uint64_t time_ns) {
  size_t at = run->windows.num;
  while (at > 0 && run->windows.items[at - 1].start_ns > time_ns) at--;
  size_t behind = run->windows.num - at;
  memmove(run->windows.items + at + 1, run->windows.items + at,
          behind * sizeof *run->windows.items);
  memmove(run->window_indexes + at + 1, run->window_indexes + at,
          behind * sizeof *run->window_indexes);
  run->windows.num++;
  run->windows.items[at] = (ppi_span){time_ns, UINT64_MAX};
  run->window_indexes[at] = index;
}

bool ppi_run_window(ppi_run *run, uint32_t index, bool opens,
                    uint64_t time_ns) {
  // An index above all earlier ones is new.
  size_t at = index < run->next_window ? run->windows.num : 0;
  run->last_ns = PPI_MAX(run->last_ns, time_ns);
  while (at > 0 && run->window_indexes[at - 1] != index) at--;
  if (at > 0) {
    ppi_span *window = &run->windows.items[at - 1];
    if (opens) return true;
    window->end_ns = PPI_MAX(time_ns, window->start_ns);
    return true;
  }
  if (!opens) return true;
  if (!PPI_ROOM(run->windows.items, run->windows.capacity,
                run->windows.num + 1))
    return false;
  if (!PPI_ROOM(run->window_indexes, run->window_indexes_capacity,
                run->windows.num + 1))
    return false;
  run->next_window = PPI_MAX(run->next_window, (uint64_t)index + 1);
  insert_window(run, index, time_ns);
  return true;
}

void ppi_run_clear(ppi_run *run) {
  ppi_accounts_clear(&run->accounts);
  ppi_run_clear_threads(&run->ids);
  ppi_run_clear_ids(&run->ids);
  ppi_run_clear_labels(&run->labels);
  ppi_queues_clear(&run->queues);
  ppi_serving_clear_run(&run->serving);
  ppi_run_clear_pairs(&run->pairs);
  ppi_run_clear_details(&run->rows);
  ppi_device_calls_clear(&run->device_calls);
  ppi_paths_clear(&run->paths);
  ppi_shapes_clear(&run->shapes);
  ppi_captures_clear(&run->captures);
  ppi_distribution_clear(&run->distribution);
  ppi_interference_clear(&run->interference);
  ppi_requests_clear(&run->requests);
  ppi_memory_clear(&run->memory);
  ppi_allocations_clear(&run->allocations);
  ppi_perf_clear(&run->perf);
  PPI_FREE_ALL(run->steps.buffered.items, run->sweep.borders.times_ns,
               run->work.items, run->plain.items, run->listed.items,
               run->windows.items, run->window_indexes);
  *run = (ppi_run){0};
}
