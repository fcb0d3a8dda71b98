// SPDX-License-Identifier: Apache-2.0
#include "whatif/whatif_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "export/export.h"

static ppi_whatif_log *log_of(pprof_sink *sink) {
  return (ppi_whatif_log *)sink;
}

// NULL: out of memory. Row of a thread's or a stream's name.
static bool row_of(ppi_whatif_log *log, pprof_definition_kind kind, uint32_t id,
                   uint32_t *out) {
  uint32_t name;
  if (ppi_export_names_row(&log->names, kind, id, &name)) return false;
  size_t at = ppi_map_number(&log->row_numbers, (ppi_map_key){kind, name});
  if (at == SIZE_MAX) return false;
  if (at == log->num_rows) {
    ppi_whatif_row *grown =
        ppi_grow(log->rows, &log->rows_capacity, at + 1, sizeof *grown);
    if (!grown) return false;
    log->rows = grown;
    grown[log->num_rows++] = (ppi_whatif_row){
        .name = name, .is_stream = kind == PPROF_DEFINITION_STREAM};
  }
  *out = (uint32_t)at;
  return true;
}

// A site that folds into another is that one. Names are looked up at the end,
// when all are defined.
static bool stage_of(ppi_whatif_log *log, uint32_t site, bool on_device,
                     uint32_t *out) {
  enum { MOST_FOLDS = 4 };
  uint32_t name;
  for (int i = 0; i < MOST_FOLDS; i++) {
    if (ppi_export_names_row(&log->names, PPROF_DEFINITION_SITE, site, &name))
      return false;
    const ppi_export_name *found =
        ppi_export_names_at(&log->names, PPROF_DEFINITION_SITE, name);
    if (!found->number || found->number > UINT32_MAX) break;
    site = (uint32_t)found->number;
  }
  size_t at = ppi_map_number(&log->stage_numbers,
                             (ppi_map_key){on_device ? 1 : 0, name});
  if (at == SIZE_MAX) return false;
  if (at == log->num_stages) {
    ppi_whatif_stage *grown =
        ppi_grow(log->stages, &log->stages_capacity, at + 1, sizeof *grown);
    if (!grown) return false;
    log->stages = grown;
    grown[log->num_stages++] = (ppi_whatif_stage){.on_device = on_device};
  }
  *out = (uint32_t)at + 1;
  return true;
}

// ---- ranges ----

static uint32_t add_range(ppi_whatif_log *log, const ppi_whatif_range *range) {
  ppi_whatif_range *grown = ppi_grow(log->ranges, &log->ranges_capacity,
                                     log->num_ranges + 1, sizeof *grown);
  if (!grown) return 0;
  log->ranges = grown;
  grown[log->num_ranges++] = *range;
  log->rows[range->row].num_ranges++;
  if (range->stage) {
    ppi_whatif_stage *stage = &log->stages[range->stage - 1];
    stage->calls++;
    stage->total_ns += range->end_ns - range->start_ns;
  }
  return (uint32_t)log->num_ranges;
}

uint32_t ppi_whatif_log_point(ppi_whatif_log *log, uint32_t row,
                              uint64_t time_ns) {
  const ppi_whatif_range point = {
      .start_ns = time_ns, .end_ns = time_ns, .row = row, .depth = UINT32_MAX};
  return add_range(log, &point);
}

static bool add_number(uint64_t **items, size_t *num, size_t *capacity,
                       uint64_t number) {
  uint64_t *grown = ppi_grow(*items, capacity, *num + 1, sizeof *grown);
  if (!grown) return false;
  *items = grown;
  grown[(*num)++] = number;
  return true;
}

static bool add_flows(ppi_whatif_log *log, const pprof_event *event,
                      ppi_whatif_range *range) {
  const uint32_t cut =
      PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED | PPROF_FLAG_LATE;
  bool added = true;
  range->first_flow = log->num_flows;
  range->num_flows = (uint32_t)event->num_flows;
  for (size_t i = 0; i < event->num_flows && added; i++) {
    added = add_number(&log->flows, &log->num_flows, &log->flows_capacity,
                       event->flows[i]);
    if (added && event->flags & cut)
      added = add_number(&log->cut, &log->num_cut, &log->cut_capacity,
                         event->flows[i]);
  }
  return added;
}

static bool take_host(ppi_whatif_log *log, const pprof_event *event) {
  ppi_whatif_range range = {.start_ns = event->start_ns,
                            .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                            .depth = event->depth};
  return row_of(log, PPROF_DEFINITION_LANE, event->lane, &range.row) &&
         stage_of(log, event->site, false, &range.stage) &&
         add_flows(log, event, &range) && add_range(log, &range);
}

// Its two ends are points, each on its thread.
static bool take_loose(ppi_whatif_log *log, const pprof_event *event,
                       uint32_t end_lane) {
  ppi_whatif_range point = {.start_ns = event->start_ns,
                            .end_ns = event->start_ns,
                            .depth = UINT32_MAX};
  if (!event->num_flows) return true;
  if (!add_flows(log, event, &point) ||
      !row_of(log, PPROF_DEFINITION_LANE, event->lane, &point.row) ||
      !add_range(log, &point))
    return false;
  point.start_ns = point.end_ns = PPI_MAX(event->start_ns, event->end_ns);
  return row_of(log, PPROF_DEFINITION_LANE, end_lane, &point.row) &&
         add_range(log, &point);
}

static bool take_device(ppi_whatif_log *log, const pprof_event *event) {
  ppi_whatif_range point = {.start_ns = event->start_ns,
                            .end_ns = event->start_ns,
                            .depth = UINT32_MAX};
  ppi_whatif_range range = {
      .start_ns = event->device_start_ns,
      .end_ns = PPI_MAX(event->device_start_ns, event->device_end_ns)};
  if (!add_flows(log, event, &range)) return false;
  // The host's side of a paired one is a range that has them.
  if (!(event->flags & PPROF_FLAG_PAIRED)) {
    point.first_flow = range.first_flow;
    point.num_flows = range.num_flows;
  }
  return row_of(log, PPROF_DEFINITION_LANE, event->lane, &point.row) &&
         (range.submit = add_range(log, &point)) &&
         row_of(log, PPROF_DEFINITION_STREAM, event->stream, &range.row) &&
         stage_of(log, event->site, true, &range.stage) &&
         add_range(log, &range);
}

static bool is_step(ppi_whatif_log *log, const pprof_event *event) {
  uint32_t name;
  return ppi_export_names_row(&log->names, PPROF_DEFINITION_SITE, event->site,
                              &name) == PPROF_STATUS_OK &&
         strcmp(ppi_export_category(&log->names, name), "ProfileStep") == 0;
}

static bool take(ppi_whatif_log *log, const pprof_event *event,
                 const pprof_batch *batch) {
  const uint32_t cut = PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED;
  if (event->kind == PPROF_KIND_RANGE && is_step(log, event))
    return event->flags & cut ||
           add_number(&log->steps_ns, &log->num_steps, &log->steps_capacity,
                      event->end_ns);
  if (event->kind == PPROF_KIND_RANGE)
    return ppi_export_is_loose(event, batch)
               ? take_loose(log, event, batch->lane)
               : take_host(log, event);
  if (event->kind != PPROF_KIND_DEVICE_RANGE) return true;
  if (ppi_export_is_timed(event)) return take_device(log, event);
  log->num_untimed++;
  return true;
}

// ---- the sink ----

static pprof_status log_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_whatif_log *log = log_of(sink);
  if (log->num_runs++) return PPROF_STATUS_OK;
  return ppi_export_names_begin(&log->names, info);
}

static pprof_status log_define(pprof_sink *sink,
                               const pprof_definition *definition) {
  ppi_whatif_log *log = log_of(sink);
  uint32_t row;
  if (log->num_runs > 1) return PPROF_STATUS_OK;
  return ppi_export_names_set(&log->names, definition, &row);
}

static pprof_status log_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_whatif_log *log = log_of(sink);
  if (log->num_runs > 1) return PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events && !log->too_many; i++) {
    if (!take(log, pprof_batch_at(batch, i), batch))
      return PPROF_STATUS_NO_MEMORY;
    log->too_many = log->num_ranges > PPI_WHATIF_MOST_RANGES;
  }
  return PPROF_STATUS_OK;
}

static pprof_status log_finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_whatif_log *log = log_of(sink);
  if (log->num_runs == 1)
    log->num_lost = pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
  return PPROF_STATUS_OK;
}

static int by_number(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

void ppi_whatif_log_settle(ppi_whatif_log *log) {
  for (size_t i = 0; i < log->num_stages; i++) {
    uint32_t name = (uint32_t)log->stage_numbers.keys[i].low;
    const char *text =
        ppi_export_names_at(&log->names, PPROF_DEFINITION_SITE, name)->text;
    log->stages[i].name = text ? text : "";
  }
  if (log->num_steps > 1)
    qsort(log->steps_ns, log->num_steps, sizeof *log->steps_ns, by_number);
  if (log->num_cut > 1)
    qsort(log->cut, log->num_cut, sizeof *log->cut, by_number);
}

void ppi_whatif_log_init(ppi_whatif_log *log) {
  *log = (ppi_whatif_log){.base = {.size = sizeof log->base,
                                   .begin = log_begin,
                                   .define = log_define,
                                   .events = log_events,
                                   .finish = log_finish}};
}

void ppi_whatif_log_clear(ppi_whatif_log *log) {
  ppi_export_names_clear(&log->names);
  ppi_map_clear(&log->row_numbers);
  ppi_map_clear(&log->stage_numbers);
  ppi_free(log->rows);
  ppi_free(log->stages);
  ppi_free(log->ranges);
  ppi_free(log->flows);
  ppi_free(log->cut);
  ppi_free(log->steps_ns);
  ppi_whatif_log_init(log);
}
