// SPDX-License-Identifier: Apache-2.0
//
// Writes the picture as JSON; exporters/html/picture.js reads it.
#include "html/picture_text.h"

#include "base/base.h"
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

static void put_number(ppi_page *page, const char *name, uint64_t value) {
  ppi_page_format(page, "\"%s\":%llu,", name, (unsigned long long)value);
}

static void put_text(ppi_page *page, const char *name, const char *text) {
  ppi_page_format(page, "\"%s\":", name);
  ppi_page_json(page, text);
  ppi_page_text(page, ",");
}

static void put_name(ppi_page *page, const char *name, size_t most) {
  ppi_page_text(page, "\"name\":");
  ppi_spread_put_name(page, name, most);
  ppi_page_text(page, ",");
}

// Ends an object with an empty member, as members before it end with a comma.
static void end_object(ppi_page *page) {
  ppi_page_text(page, "\"\":0}");
}

static void put_names(ppi_page *page, const ppi_picture *picture, size_t most) {
  ppi_page_text(page, "\"stages\":[");
  for (size_t i = 0; i < picture->num_stages; i++) {
    ppi_page_text(page, i ? ",\n[" : "[");
    ppi_spread_put_name(page, picture->stages[i].name, most);
    ppi_page_text(page, ",");
    ppi_page_json(page, picture->stages[i].category);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "],\n\"devices\":[");
  for (size_t i = 0; i < picture->num_devices; i++) {
    ppi_page_text(page, i ? "," : "");
    ppi_page_json(page, picture->devices[i]);
  }
  ppi_page_text(page, "],\n\"runs\":[");
  for (size_t i = 0; i < picture->num_runs; i++) {
    const ppi_picture_run *run = &picture->runs[i];
    ppi_page_text(page, i ? ",\n{" : "{");
    put_text(page, "uuid", run->uuid);
    put_text(page, "host", run->host);
    put_text(page, "pid", run->pid);
    put_number(page, "shift", run->shift_ns);
    end_object(page);
  }
  ppi_page_text(page, "],\n");
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
  ppi_page_text(page, "\"rows\":[");
  for (size_t i = 0; i < picture->num_rows; i++) {
    const ppi_picture_row *row = &picture->rows[i];
    ppi_page_text(page, i ? ",\n{" : "{");
    put_text(page, "kind", kinds[row->kind]);
    put_name(page, name_of(picture, row), most);
    put_number(page, "run", row->run);
    put_number(page, "lane", row->lane);
    if (row->kind == PPI_ROW_STREAM && row->device < picture->num_devices)
      put_number(page, "device", row->device);
    put_number(page, "number", row->number);
    put_number(page, "num", row->num);
    put_number(page, "tracks", row->first_track == SIZE_MAX ? 0 : row->depth);
    end_object(page);
  }
  ppi_page_text(page, "],\n");
}

static void put_cell(ppi_page *page, const ppi_request_run *run,
                     const ppi_request_cell *cell, size_t most) {
  const ppi_request_stage *stage = &run->stages[cell->stage];
  ppi_page_text(page, "{");
  put_name(page, stage->name, most);
  put_text(page, "category", stage->category_name);
  put_number(page, "device", stage->on_device);
  put_number(page, "whole", stage->is_whole);
  put_number(page, "calls", cell->calls);
  put_number(page, "time", cell->time_ns);
  put_number(page, "wait", cell->wait_ns);
  put_number(page, "own", cell->own_ns);
  put_number(page, "contended", cell->contended_ns);
  put_number(page, "hop", cell->hop_ns);
  put_number(page, "critical", cell->critical_ns);
  end_object(page);
}

static pprof_status put_requests(ppi_page *page, const ppi_picture *picture,
                                 unsigned level) {
  pprof_status status = PPROF_STATUS_OK;
  ppi_page_text(page, "\"requests\":[");
  for (size_t i = 0; i < picture->num_requests; i++) {
    const ppi_picture_request *request = &picture->requests[i];
    const ppi_request_row *row = request->row;
    ppi_page_text(page, i ? ",\n{" : "{");
    put_text(page, "what", request->what);
    put_number(page, "run", request->run);
    put_number(page, "parts", request->num_parts);
    put_number(page, "start",
               row->start_ns + picture->runs[request->run].shift_ns);
    put_number(page, "length", row->length_ns);
    put_number(page, "queue", row->queue_ns);
    put_number(page, "hop", row->hop_ns);
    ppi_page_format(page, "\"flow\":\"%llu\",\"cells\":[",
                    (unsigned long long)row->flow);
    for (size_t j = 0; j < row->num_cells >> level; j++) {
      if (j) ppi_page_text(page, ",\n");
      put_cell(page, request->of, &request->of->cells[row->first_cell + j],
               most_of(level));
    }
    ppi_page_text(page, "],");
    if (status == PPROF_STATUS_OK)
      status = ppi_longest_path_put(page, picture, i, level);
    end_object(page);
  }
  ppi_page_text(page, "],\n");
  return status;
}

static void put_decimal(ppi_page *page, double value) {
  const ppi_cell cell = ppi_cell_decimal(value);
  ppi_page_text(page, ",");
  ppi_page_cell(page, &cell, ppi_page_json, "null");
}

static void put_counters(ppi_page *page, const ppi_picture *picture,
                         unsigned level) {
  size_t num = picture->num_counters >> level, most = most_of(level);
  ppi_page_text(page, "\"counters\":[");
  for (size_t i = 0; i < num; i++) {
    const ppi_picture_counter *counter = &picture->counters[i];
    const char *comma = "";
    ppi_page_text(page, i ? ",\n{" : "{");
    put_name(page, counter->name, most);
    ppi_page_text(page, "\"values\":[");
    for (size_t at = 0; at < PPI_PICTURE_MOMENTS; at++) {
      if (!counter->num[at]) continue;
      ppi_page_format(page, "%s[%zu", comma, at);
      put_decimal(page, counter->last[at]);
      put_decimal(page, counter->least[at]);
      put_decimal(page, counter->most[at]);
      ppi_page_text(page, "]");
      comma = ",";
    }
    ppi_page_text(page, "]}");
  }
  ppi_page_text(page, "],\n\"windows\":[");
  for (size_t i = 0; i < picture->num_windows; i++) {
    const ppi_picture_window *window = &picture->windows[i];
    ppi_page_format(page, "%s[%u,%u,%d,%llu]", i ? "," : "", window->run,
                    window->index, window->opens,
                    (unsigned long long)window->time_ns);
  }
  ppi_page_text(page, "],\n");
}

pprof_status ppi_picture_put(ppi_page *page, const ppi_picture *picture,
                             const ppi_figures *figures, unsigned level) {
  ppi_page_text(page, "{");
  put_number(page, "start", picture->start_ns);
  put_number(page, "end", picture->end_ns);
  put_number(page, "bin", picture->bin_ns);
  put_number(page, "moment", picture->moment_ns);
  put_number(page, "moments", PPI_PICTURE_MOMENTS);
  put_number(page, "all", picture->num_events);
  put_number(page, "odd", picture->num_odd);
  put_number(page, "rows_left_out", picture->num_rows_left_out);
  put_number(page, "series_left_out", picture->series_left_out);
  put_names(page, picture, most_of(level));
  put_rows(page, picture, most_of(level));
  pprof_status status = put_requests(page, picture, level);
  put_counters(page, picture, level);
  ppi_bands_put(page, picture, figures, level);
  if (status == PPROF_STATUS_OK)
    status = ppi_spreads_put(page, figures, most_of(level));
  ppi_page_text(page, ",");
  end_object(page);
  return status;
}
