// SPDX-License-Identifier: Apache-2.0
//
// Packs the picture's parts; exporters/html/picture.js reads them.
#include "html/picture_pack.h"

#include <stdlib.h>

#include "base/mem.h"
#include "file/json_put.h"
#include "html/bands.h"
#include "html/pack.h"
#include "html/page_data.h"
#include "html/series.h"
#include "html/spread_text.h"
#include "html/survey.h"
#include "report/parts/request_walk.h"

// ---- the longest path of a request ----

static bool is_own_range(const ppi_picture *picture,
                         const ppi_picture_request *request, uint32_t stage) {
  const ppi_request_run *run = request->of;
  if (stage == PPI_SEEN_NONE) return false;
  for (size_t i = 0; i < run->num_stages; i++)
    if (strcmp(run->stages[i].name, picture->stages[stage].name) == 0 &&
        strcmp(run->stages[i].category_name, picture->stages[stage].category) ==
            0)
      return run->stages[i].is_whole;
  return false;
}

static size_t list_parts(const ppi_picture *picture, size_t request,
                         ppi_request_part *parts) {
  size_t num = 0;
  for (size_t i = 0; i < picture->num_kept; i++) {
    const ppi_picture_event *event = &picture->events[i];
    if (!(event->requests >> request & 1) || event->kind == PPROF_KIND_MARK)
      continue;
    parts[num++] = (ppi_request_part){
        .start_ns = event->start_ns,
        .end_ns = event->end_ns,
        .device_start_ns = event->device_start_ns,
        .device_end_ns = event->device_end_ns,
        .site = event->stage,
        .lane = event->row,
        .stream = event->stream_row,
        .is_async = event->flags & PPROF_FLAG_ASYNC,
        .is_whole =
            is_own_range(picture, &picture->requests[request], event->stage)};
  }
  qsort(parts, num, sizeof *parts, ppi_request_part_order);
  return num;
}

static void put_path(ppi_page *page, const ppi_request_path *path,
                     const ppi_request_part *parts, unsigned level) {
  ppi_put_array(page, "path");
  for (size_t i = 0; i < path->num; i += (size_t)1 << level) {
    const ppi_path_piece *piece = &path->items[i];
    const ppi_request_part *part = &parts[piece->part];
    bool on_device = part->device_end_ns > part->device_start_ns;
    ppi_put_array(page, NULL);
    PPI_PUT_NUMBERS(page, part->site, on_device, piece->start_ns, piece->end_ns,
                    on_device ? part->stream - 1 : part->lane);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}

static pprof_status put_longest_path(ppi_page *page, const ppi_picture *picture,
                                     size_t request, unsigned level) {
  ppi_request_part *parts = ppi_alloc((picture->num_kept + 1) * sizeof *parts);
  ppi_part_times *times = ppi_alloc((picture->num_kept + 1) * sizeof *times);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  ppi_request_path path = {0};
  if (parts && times) {
    ppi_walk walk = {.parts = parts,
                     .num = list_parts(picture, request, parts),
                     .times = times,
                     .path = &path};
    status = ppi_or_no_memory(ppi_walk_critical(&walk));
    if (status == PPROF_STATUS_OK) put_path(page, &path, parts, level);
  }
  PPI_FREE_ALL(path.items, parts, times);
  return status;
}

// ---- as JSON, without the large parts ----

// Names that are longer lose their ends.
enum { MOST_NAME = 1 << 16, LEAST_NAME = 24 };

static size_t most_of(unsigned level) {
  return PPI_MAX(MOST_NAME >> level, LEAST_NAME);
}

static void begin_list(ppi_page *page, const char *key) {
  ppi_put_line(page);
  ppi_put_array(page, key);
}

// Opens an object of a list, all but the first on a line of their own.
static void begin_item(ppi_page *page, size_t at) {
  if (at) ppi_put_line(page);
  ppi_put_object(page, NULL);
}

static void put_names(ppi_page *page, const ppi_picture *picture, size_t most) {
  begin_list(page, "stages");
  for (size_t i = 0; i < picture->num_stages; i++) {
    if (i) ppi_put_line(page);
    ppi_put_array(page, NULL);
    ppi_spread_put_name(page, NULL, picture->stages[i].name, most);
    ppi_put_text(page, NULL, picture->stages[i].category);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
  begin_list(page, "devices");
  for (size_t i = 0; i < picture->num_devices; i++)
    ppi_put_text(page, NULL, picture->devices[i]);
  ppi_page_text(page, "]");
  begin_list(page, "runs");
  for (size_t i = 0; i < picture->num_runs; i++) {
    const ppi_picture_run *run = &picture->runs[i];
    begin_item(page, i);
    ppi_put_text(page, "uuid", run->uuid);
    ppi_put_text(page, "host", run->host);
    ppi_put_text(page, "pid", run->pid);
    ppi_put_u64(page, "shift", run->shift_ns);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static const char *name_of(const ppi_picture *picture,
                           const ppi_picture_row *row) {
  if (row->kind != PPI_ROW_ASYNC) return row->name;
  const ppi_picture_stage *stage = &picture->stages[row->lane];
  return stage->into ? picture->stages[stage->into - 1].name : stage->name;
}

static void put_rows(ppi_page *page, const ppi_picture *picture, size_t most) {
  static const char *const kinds[] = {[PPI_ROW_THREAD] = "thread",
                                      [PPI_ROW_ASYNC] = "async",
                                      [PPI_ROW_STREAM] = "stream"};
  begin_list(page, "rows");
  for (size_t i = 0; i < picture->num_rows; i++) {
    const ppi_picture_row *row = &picture->rows[i];
    begin_item(page, i);
    ppi_put_text(page, "kind", kinds[row->kind]);
    ppi_spread_put_name(page, "name", name_of(picture, row), most);
    ppi_put_u64(page, "run", row->run);
    ppi_put_u64(page, "lane", row->lane);
    if (row->kind == PPI_ROW_STREAM && row->device < picture->num_devices)
      ppi_put_u64(page, "device", row->device);
    ppi_put_u64(page, "number", row->number);
    ppi_put_u64(page, "num", row->num);
    ppi_put_u64(page, "tracks", row->first_track == SIZE_MAX ? 0 : row->depth);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_cell(ppi_page *page, const ppi_request_run *run,
                     const ppi_request_cell *cell, size_t most) {
  const ppi_request_stage *stage = &run->stages[cell->stage];
  ppi_spread_put_name(page, "name", stage->name, most);
  ppi_put_text(page, "category", stage->category_name);
  ppi_put_u64(page, "device", stage->on_device);
  ppi_put_u64(page, "whole", stage->is_whole);
  ppi_put_u64(page, "calls", cell->calls);
  ppi_put_u64(page, "time", cell->time_ns);
  ppi_put_u64(page, "wait", cell->wait_ns);
  ppi_put_u64(page, "own", cell->own_ns);
  ppi_put_u64(page, "contended", cell->contended_ns);
  ppi_put_u64(page, "hop", cell->hop_ns);
  ppi_put_u64(page, "critical", cell->critical_ns);
  ppi_page_text(page, "}");
}

static pprof_status put_requests(ppi_page *page, const ppi_picture *picture,
                                 unsigned level) {
  pprof_status status = PPROF_STATUS_OK;
  begin_list(page, "requests");
  for (size_t i = 0; i < picture->num_requests; i++) {
    const ppi_picture_request *request = &picture->requests[i];
    const ppi_request_row *row = request->row;
    begin_item(page, i);
    ppi_put_text(page, "what", request->what);
    ppi_put_u64(page, "run", request->run);
    ppi_put_u64(page, "parts", request->num_parts);
    ppi_put_u64(page, "start",
                row->start_ns + picture->runs[request->run].shift_ns);
    ppi_put_u64(page, "length", row->length_ns);
    ppi_put_u64(page, "queue", row->queue_ns);
    ppi_put_u64(page, "hop", row->hop_ns);
    ppi_put_key(page, "flow");
    ppi_page_format(page, "\"%llu\"", (unsigned long long)row->flow);
    ppi_put_array(page, "cells");
    for (size_t j = 0; j < row->num_cells >> level; j++) {
      begin_item(page, j);
      put_cell(page, request->of, &request->of->cells[row->first_cell + j],
               most_of(level));
    }
    ppi_page_text(page, "]");
    PPI_THEN(status, put_longest_path(page, picture, i, level));
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  return status;
}

static void put_decimal(ppi_page *page, double value) {
  const ppi_cell cell = ppi_cell_decimal(value);
  ppi_put_key(page, NULL);
  ppi_page_cell(page, &cell, ppi_page_json, "null");
}

static void put_counters(ppi_page *page, const ppi_picture *picture,
                         unsigned level) {
  size_t num = picture->num_counters >> level, most = most_of(level);
  begin_list(page, "counters");
  for (size_t i = 0; i < num; i++) {
    const ppi_picture_counter *counter = &picture->counters[i];
    begin_item(page, i);
    ppi_spread_put_name(page, "name", counter->name, most);
    ppi_put_array(page, "values");
    for (size_t at = 0; at < PPI_PICTURE_MOMENTS; at++) {
      if (!counter->num[at]) continue;
      ppi_put_array(page, NULL);
      ppi_put_u64(page, NULL, at);
      put_decimal(page, counter->last[at]);
      put_decimal(page, counter->least[at]);
      put_decimal(page, counter->most[at]);
      ppi_page_text(page, "]");
    }
    ppi_page_text(page, "]}");
  }
  ppi_page_text(page, "]");
  begin_list(page, "windows");
  for (size_t i = 0; i < picture->num_windows; i++) {
    const ppi_picture_window *window = &picture->windows[i];
    ppi_put_array(page, NULL);
    PPI_PUT_NUMBERS(page, window->run, window->index, window->opens,
                    window->time_ns);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}

static pprof_status put_picture(ppi_page *page, const ppi_picture *picture,
                                const ppi_figures *figures, unsigned level) {
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "start", picture->start_ns);
  ppi_put_u64(page, "end", picture->end_ns);
  ppi_put_u64(page, "bin", picture->bin_ns);
  ppi_put_u64(page, "moment", picture->moment_ns);
  ppi_put_u64(page, "moments", PPI_PICTURE_MOMENTS);
  ppi_put_u64(page, "all", picture->num_events);
  ppi_put_u64(page, "odd", picture->num_odd);
  ppi_put_u64(page, "rows_left_out", picture->num_rows_left_out);
  ppi_put_u64(page, "series_left_out", picture->series_left_out);
  put_names(page, picture, most_of(level));
  put_rows(page, picture, most_of(level));
  pprof_status status = put_requests(page, picture, level);
  put_counters(page, picture, level);
  ppi_bands_put(page, picture, figures, level);
  PPI_THEN(status, ppi_spreads_put(page, figures, most_of(level)));
  ppi_page_text(page, "}");
  return status;
}

// ---- packed ----

typedef struct packed {
  const ppi_picture *picture;
  const ppi_figures *figures;
} packed;

static uint64_t or_none(uint32_t number) {
  return number == PPI_SEEN_NONE ? 0 : (uint64_t)number + 1;
}

static pprof_status make_text(ppi_pack *pack, const void *of, unsigned level) {
  const packed *all = of;
  ppi_page page = {0};
  pprof_status status = put_picture(&page, all->picture, all->figures, level);
  if (status == PPROF_STATUS_OK && page.failed) status = PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK) ppi_pack_bytes(pack, page.bytes, page.len);
  ppi_page_clear(&page);
  return status;
}

// ---- events ----

static bool is_whole(double value) {
  return value > 0 && value < 9e15 && value == (double)(uint64_t)value;
}

enum {
  HAS_STREAM = 4,
  HAS_FLOW = 8,
  HAS_VALUE = 16,
  HAS_WAKER = 32,
  FIRST_REQUEST = 6
};

static void pack_event(ppi_pack *pack, const ppi_picture_event *event,
                       uint64_t before_ns) {
  uint64_t kind = (event->kind - 1) & 3;
  uint64_t device_ns = event->device_end_ns - event->device_start_ns;
  if (event->stream_row) kind |= HAS_STREAM;
  if (event->flow) kind |= HAS_FLOW;
  if (is_whole(event->value)) kind |= HAS_VALUE;
  if (event->by) kind |= HAS_WAKER;
  ppi_pack_number(pack, kind | (uint64_t)event->requests << FIRST_REQUEST);
  ppi_pack_number(pack, event->flags);
  ppi_pack_number(pack, event->row);
  ppi_pack_number(pack, or_none(event->stage));
  ppi_pack_number(pack, event->depth);
  ppi_pack_signed(pack, (int64_t)(event->start_ns - before_ns));
  ppi_pack_number(pack, event->end_ns - event->start_ns);
  if (event->stream_row) {
    ppi_pack_number(pack, event->stream_row - 1);
    ppi_pack_signed(pack, (int64_t)(event->device_start_ns - event->start_ns));
    ppi_pack_number(pack, device_ns);
    ppi_pack_number(pack, event->error_ns);
  }
  if (event->flow) {
    ppi_pack_number(pack, event->flow >> 32);
    ppi_pack_number(pack, event->flow & UINT32_MAX);
  }
  if (is_whole(event->value)) ppi_pack_number(pack, (uint64_t)event->value);
  if (!event->by) return;
  ppi_pack_number(pack, event->by);
  ppi_pack_number(pack, event->in);
}

static uint64_t length_of(const ppi_picture_event *event) {
  return PPI_MAX(event->end_ns - event->start_ns,
                 event->device_end_ns - event->device_start_ns);
}

// The shortest length that at most `most` events reach.
static uint64_t least_of(const ppi_picture *picture, size_t most) {
  uint64_t counts[PPI_PICTURE_LENGTHS] = {0}, num = 0;
  for (size_t i = 0; i < picture->num_kept; i++)
    counts[ppi_picture_class(length_of(&picture->events[i]))]++;
  size_t at = PPI_PICTURE_LENGTHS;
  while (at > 0 && num + counts[at - 1] <= most) num += counts[--at];
  return at < PPI_PICTURE_LENGTHS ? ppi_picture_class_ns(at) : UINT64_MAX;
}

static pprof_status make_events(ppi_pack *pack, const void *of,
                                unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  uint64_t before_ns = 0;
  uint64_t least_ns = least_of(picture, picture->num_kept >> level);
  for (size_t i = 0; i < picture->num_kept; i++) {
    const ppi_picture_event *event = &picture->events[i];
    if (!event->requests && length_of(event) < least_ns) continue;
    ppi_pack_number(pack, 1);
    pack_event(pack, event, before_ns);
    before_ns = event->start_ns;
  }
  ppi_pack_number(pack, 0);
  return PPROF_STATUS_OK;
}

// ---- bins ----

// Merges 2^`level` bins from *at on and moves *at behind them. `open` counts
// the long ranges that span the next bins.
static ppi_picture_bin next_bin(const ppi_picture *picture, size_t *at,
                                unsigned level, int64_t *open) {
  ppi_picture_bin sum = {.stage = PPI_SEEN_NONE};
  for (size_t last = *at + ((size_t)1 << level); *at < last; ++*at) {
    const ppi_picture_bin *bin = &picture->bins[*at];
    *open += bin->change;
    uint64_t ns = bin->covered_ns + (uint64_t)*open * picture->bin_ns;
    if (ns > sum.vote_ns || sum.stage == PPI_SEEN_NONE) sum.stage = bin->stage;
    sum.vote_ns = PPI_MAX(sum.vote_ns, ns);
    sum.covered_ns += ns;
    sum.num += bin->num;
  }
  return sum;
}

static void pack_bin(ppi_pack *pack, const ppi_picture_bin *bin,
                     uint64_t bin_ns) {
  ppi_pack_number(pack, bin->num);
  ppi_pack_number(pack, or_none(bin->stage));
  ppi_pack_number(pack, 255 * bin->covered_ns / bin_ns);
}

// A number precedes each bin that is not empty: the count of empty bins before
// it, plus 1. 0 ends a track.
static void pack_track(ppi_pack *pack, const ppi_picture *picture, size_t track,
                       unsigned level) {
  size_t at = track * picture->bins_a_track;
  size_t end = at + picture->bins_a_track, gap = 0;
  int64_t open = 0;
  while (at < end) {
    const ppi_picture_bin bin = next_bin(picture, &at, level, &open);
    if (!bin.covered_ns && !bin.num) {
      gap++;
      continue;
    }
    ppi_pack_number(pack, gap + 1);
    pack_bin(pack, &bin, picture->bin_ns << level);
    gap = 0;
  }
  ppi_pack_number(pack, 0);
}

static pprof_status make_bins(ppi_pack *pack, const void *of, unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  while (picture->bins_a_track >> level == 0) level--;
  ppi_pack_number(pack, level);
  ppi_pack_number(pack, picture->bins_a_track >> level);
  for (size_t i = 0; i < picture->num_tracks; i++)
    pack_track(pack, picture, i, level);
  return PPROF_STATUS_OK;
}

// ---- series ----

static void pack_series(ppi_pack *pack, const ppi_picture *picture,
                        const ppi_picture_series *series) {
  int64_t level = 0;
  ppi_pack_number(pack, series->kind);
  ppi_pack_number(pack, or_none(series->device));
  ppi_pack_number(pack, or_none(series->stage));
  for (size_t at = 0; at < PPI_PICTURE_MOMENTS; at++)
    ppi_pack_number(pack, ppi_series_at(picture, series, at, &level));
}

static pprof_status make_series(ppi_pack *pack, const void *of,
                                unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  size_t num = picture->num_series >> level;
  ppi_pack_number(pack, num);
  for (size_t i = 0; i < num; i++)
    pack_series(pack, picture, &picture->series[i]);
  return PPROF_STATUS_OK;
}

pprof_status ppi_picture_pack(const ppi_picture *picture,
                              const ppi_figures *figures, FILE *out) {
  static const ppi_part parts[] = {{"picture", 400000, make_text},
                                   {"series", 250000, make_series},
                                   {"events", 700000, make_events},
                                   {"bins", 350000, make_bins}};
  const packed all = {picture, figures};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (status == PPROF_STATUS_OK) status = ppi_part_put(&parts[i], &all, out);
  return status == PPROF_STATUS_OK && ferror(out) ? PPROF_STATUS_IO : status;
}
