// SPDX-License-Identifier: Apache-2.0
//
// exporters/html/picture.js reads it.
#include "html/picture_text.h"

#include "base/base.h"
#include "html/longest_path.h"
#include "html/pack.h"
#include "html/picture_state.h"
#include "html/seen.h"
#include "html/series.h"
#include "html/spread_text.h"
#include "view/view.h"

static void put_number(ppi_page *page, const char *name, uint64_t value) {
  ppi_page_format(page, "\"%s\":%llu,", name, (unsigned long long)value);
}

static void put_text(ppi_page *page, const char *name, const char *text) {
  ppi_page_format(page, "\"%s\":", name);
  ppi_page_json(page, text);
  ppi_page_text(page, ",");
}

// Members of an object end with a comma; this is the last one.
static void end_object(ppi_page *page) {
  ppi_page_text(page, "\"\":0}");
}

static void put_names(ppi_page *page, const ppi_picture *picture) {
  ppi_page_text(page, "\"stages\":[");
  for (size_t i = 0; i < picture->num_stages; i++) {
    ppi_page_text(page, i ? ",\n[" : "[");
    ppi_page_json(page, picture->stages[i].name);
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
    put_text(page, "host", run->host);
    put_text(page, "pid", run->pid);
    put_number(page, "shift", run->shift_ns);
    end_object(page);
  }
  ppi_page_text(page, "],\n");
}

static void put_rows(ppi_page *page, const ppi_picture *picture) {
  static const char *const kinds[] = {[PPI_ROW_THREAD] = "thread",
                                      [PPI_ROW_ASYNC] = "async",
                                      [PPI_ROW_STREAM] = "stream"};
  ppi_page_text(page, "\"rows\":[");
  for (size_t i = 0; i < picture->num_rows; i++) {
    const ppi_picture_row *row = &picture->rows[i];
    ppi_page_text(page, i ? ",\n{" : "{");
    put_text(page, "kind", kinds[row->kind]);
    put_text(page, "name", row->name);
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
                     const ppi_request_cell *cell) {
  const ppi_request_stage *stage = &run->stages[cell->stage];
  ppi_page_text(page, "{");
  put_text(page, "name", stage->name);
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

static pprof_status put_requests(ppi_page *page, const ppi_picture *picture) {
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
    for (size_t j = 0; j < row->num_cells; j++) {
      if (j) ppi_page_text(page, ",\n");
      put_cell(page, request->of, &request->of->cells[row->first_cell + j]);
    }
    ppi_page_text(page, "],");
    if (status == PPROF_STATUS_OK)
      status = ppi_longest_path_put(page, picture, i);
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

static void put_counters(ppi_page *page, const ppi_picture *picture) {
  ppi_page_text(page, "\"counters\":[");
  for (size_t i = 0; i < picture->num_counters; i++) {
    const ppi_picture_counter *counter = &picture->counters[i];
    const char *comma = "";
    ppi_page_text(page, i ? ",\n{" : "{");
    put_text(page, "name", counter->name);
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

static pprof_status put_meta(const ppi_picture *picture,
                             const ppi_figures *figures, FILE *out) {
  ppi_page page = {0};
  ppi_page_text(&page, "<script type=\"application/json\" id=\"picture\">\n{");
  put_number(&page, "start", picture->start_ns);
  put_number(&page, "end", picture->end_ns);
  put_number(&page, "bin", picture->bin_ns);
  put_number(&page, "moment", picture->moment_ns);
  put_number(&page, "moments", PPI_PICTURE_MOMENTS);
  put_number(&page, "all", picture->num_events);
  put_number(&page, "told", picture->num_kept);
  put_number(&page, "odd", picture->num_odd);
  put_number(&page, "rows_left_out", picture->num_rows_left_out);
  put_number(&page, "series_left_out", picture->series_left_out);
  put_names(&page, picture);
  put_rows(&page, picture);
  pprof_status status = put_requests(&page, picture);
  put_counters(&page, picture);
  if (status == PPROF_STATUS_OK) status = ppi_spreads_put(&page, figures);
  ppi_page_text(&page, ",");
  end_object(&page);
  ppi_page_text(&page, "\n</script>\n");
  if (status == PPROF_STATUS_OK) return ppi_page_write(&page, out);
  ppi_page_clear(&page);
  return status;
}

// ---- what is much ----

static uint64_t or_none(uint32_t number) {
  return number == PPI_SEEN_NONE ? 0 : (uint64_t)number + 1;
}

static bool is_whole(double value) {
  return value > 0 && value < 9e15 && value == (double)(uint64_t)value;
}

enum { HAS_STREAM = 4, HAS_FLOW = 8, HAS_VALUE = 16, FIRST_REQUEST = 5 };

static void pack_event(ppi_pack *pack, const ppi_picture_event *event,
                       uint64_t before_ns) {
  uint64_t kind = (event->kind - 1) & 3;
  uint64_t device_ns = event->device_end_ns - event->device_start_ns;
  if (event->stream_row) kind |= HAS_STREAM;
  if (event->flow) kind |= HAS_FLOW;
  if (is_whole(event->value)) kind |= HAS_VALUE;
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
}

static void pack_track(ppi_pack *pack, const ppi_picture *picture,
                       size_t track) {
  const ppi_picture_bin *bins = picture->bins + track * picture->bins_a_track;
  size_t num = 0, gap = 0;
  for (size_t i = 0; i < picture->bins_a_track; i++)
    num += bins[i].covered_ns || bins[i].num;
  ppi_pack_number(pack, num);
  for (size_t i = 0; i < picture->bins_a_track; i++) {
    if (!bins[i].covered_ns && !bins[i].num) {
      gap++;
      continue;
    }
    uint64_t fill = 255 * bins[i].covered_ns / picture->bin_ns;
    ppi_pack_number(pack, gap);
    ppi_pack_number(pack, bins[i].num);
    ppi_pack_number(pack, or_none(bins[i].stage));
    ppi_pack_number(pack, PPI_MIN(fill, 255u));
    gap = 0;
  }
}

static void pack_series(ppi_pack *pack, const ppi_picture *picture,
                        const ppi_picture_series *series) {
  int64_t level = 0;
  ppi_pack_number(pack, series->kind);
  ppi_pack_number(pack, or_none(series->device));
  ppi_pack_number(pack, or_none(series->stage));
  for (size_t at = 0; at < PPI_PICTURE_MOMENTS; at++)
    ppi_pack_number(pack, ppi_series_at(picture, series, at, &level));
}

static pprof_status put_packed(ppi_pack *pack, const char *id, FILE *out) {
  fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
  pprof_status status = ppi_pack_put(pack, out);
  fputs("</script>\n", out);
  return status;
}

pprof_status ppi_picture_put(const ppi_picture *picture,
                             const ppi_figures *figures, FILE *out) {
  ppi_pack events = {0}, bins = {0}, series = {0};
  pprof_status status = put_meta(picture, figures, out);
  ppi_pack_number(&series, picture->num_series);
  for (size_t i = 0; i < picture->num_series; i++)
    pack_series(&series, picture, &picture->series[i]);
  ppi_pack_number(&events, picture->num_kept);
  for (size_t i = 0; i < picture->num_kept; i++)
    pack_event(&events, &picture->events[i],
               i ? picture->events[i - 1].start_ns : 0);
  ppi_pack_number(&bins, picture->bins_a_track);
  for (size_t i = 0; i < picture->num_tracks; i++)
    pack_track(&bins, picture, i);
  pprof_status done[] = {status, put_packed(&series, "series", out),
                         put_packed(&events, "events", out),
                         put_packed(&bins, "bins", out)};
  for (size_t i = 0; i < sizeof done / sizeof *done; i++)
    if (status == PPROF_STATUS_OK) status = done[i];
  return status == PPROF_STATUS_OK && ferror(out) ? PPROF_STATUS_IO : status;
}
