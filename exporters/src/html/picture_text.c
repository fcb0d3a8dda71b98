// SPDX-License-Identifier: Apache-2.0
//
// Writes the picture as JSON; exporters/html/picture.js reads it.
#include "html/picture_text.h"

#include "base/base.h"
#include "file/json_put.h"
#include "html/bands.h"
#include "html/longest_path.h"
#include "html/page_data.h"
#include "html/picture_state.h"
#include "html/series.h"
#include "html/spread_text.h"
#include "view/view.h"

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
    if (status == PPROF_STATUS_OK)
      status = ppi_longest_path_put(page, picture, i, level);
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

pprof_status ppi_picture_put(ppi_page *page, const ppi_picture *picture,
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
  if (status == PPROF_STATUS_OK)
    status = ppi_spreads_put(page, figures, most_of(level));
  ppi_page_text(page, "}");
  return status;
}
