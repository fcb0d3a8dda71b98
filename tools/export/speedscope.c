// SPDX-License-Identifier: Apache-2.0
//
// Writes speedscope's JSON: a profile for each thread, in the order of time;
// one for each row of a stream, and of ranges that end anywhere. Begins and
// ends of a profile are in order, so ranges stay in memory until the end, 24
// bytes each.
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/say.h"
#include "export/formats.h"
#include "file/json_put.h"

// Of text on its way to the file.
#define PAGE 65536

typedef enum track_kind { THREAD, LOOSE, STREAM } track_kind;

typedef struct slice {
  uint64_t start_ns, end_ns;
  uint32_t site, depth;
} slice;

typedef struct track {
  track_kind kind;
  uint32_t row;  // of the lane or stream
  slice *slices;
  size_t num, capacity;
} track;

typedef struct speedscope {
  ppi_export base;
  ppi_map numbers;  // of tracks, by kind and row
  track *tracks;
  size_t num_tracks, tracks_capacity;
  ppi_page page;
} speedscope;

static pprof_definition_kind defined_by(track_kind kind) {
  return kind == STREAM ? PPROF_DEFINITION_STREAM : PPROF_DEFINITION_LANE;
}

// Adds a slice to the track of `id`, a lane or a stream.
static void hold(speedscope *out, track_kind kind, uint32_t id,
                 const pprof_event *event, uint64_t start_ns, uint64_t end_ns) {
  ppi_export_names *names = &out->base.names;
  uint32_t site =
      ppi_export_names_row(names, PPROF_DEFINITION_SITE, event->site);
  uint32_t row = ppi_export_names_row(names, defined_by(kind), id);
  size_t at = ppi_tool_number(&out->numbers, (ppi_map_key){kind, row});
  if (at == out->num_tracks)
    PPI_MUST_PUSH(out->tracks, out->num_tracks, out->tracks_capacity,
                  (track){.kind = kind, .row = row});
  track *to = &out->tracks[at];
  PPI_MUST_PUSH(to->slices, to->num, to->capacity,
                (slice){start_ns, PPI_MAX(start_ns, end_ns), site,
                        kind == THREAD ? event->depth : 0});
}

static void take(ppi_export *export, const pprof_event *event,
                 const pprof_batch *batch) {
  speedscope *out = (speedscope *)export;
  if (event->kind == PPROF_KIND_RANGE)
    hold(out, ppi_export_is_loose(event, batch) ? LOOSE : THREAD, event->lane,
         event, event->start_ns, event->end_ns);
  else if (event->kind == PPROF_KIND_DEVICE_RANGE && ppi_export_is_timed(event))
    hold(out, STREAM, event->stream, event, event->device_start_ns,
         event->device_end_ns);
}

// ---- writing ----

static void spill(ppi_page *page) {
  speedscope *out = (speedscope *)((char *)page - offsetof(speedscope, page));
  if (page->len) fwrite(page->bytes, 1, page->len, out->base.file);
  page->len = 0;
}

// Slices with one begin: the longest first, then the outer one.
PPI_ORDER(by_start, slice, PPI_UP(start_ns) PPI_DOWN(end_ns) PPI_UP(depth))

static void put_event(speedscope *out, char type, uint32_t frame,
                      uint64_t at_ns) {
  ppi_page *page = &out->page;
  const char text[] = {type, '\0'};
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "type", text);
  ppi_put_u64(page, "frame", frame);
  ppi_put_u64(page, "at", at_ns);
  ppi_page_text(page, "}");
}

// Puts all runs on one axis if their begins are known, else each at zero.
static void shift(speedscope *out, track *from) {
  const ppi_export_names *names = &out->base.names;
  uint32_t run =
      ppi_export_names_at(names, defined_by(from->kind), from->row)->run;
  uint64_t shift_ns = ppi_export_shift(names, run);
  for (size_t i = 0; i < from->num; i++) {
    from->slices[i].start_ns += shift_ns;
    from->slices[i].end_ns += shift_ns;
  }
}

static void put_run(const speedscope *out, uint32_t run, ppi_page *page) {
  if (out->base.names.num_runs < 2 || run == 0) return;
  const ppi_export_run *at = &out->base.names.runs[run - 1];
  ppi_page_format(page, "%s %s", at->host, at->pid);
  if (*at->rank) ppi_page_format(page, ", rank %s", at->rank);
  ppi_page_text(page, ": ");
}

static void put_title(speedscope *out, const track *of, size_t lane) {
  ppi_page text = {0};
  const ppi_export_name *row =
      ppi_export_names_at(&out->base.names, defined_by(of->kind), of->row);
  put_run(out, row->run, &text);
  if (row->has_parent)
    ppi_page_format(&text, "%s / ",
                    ppi_export_names_at(&out->base.names,
                                        PPROF_DEFINITION_DEVICE, row->parent)
                        ->text);
  ppi_page_text(&text, row->text);
  if (row->number && of->kind != STREAM)
    ppi_page_format(&text, " (%" PRIu64 ")", row->number);
  if (of->kind == LOOSE) ppi_page_text(&text, ", ends anywhere");
  if (lane) ppi_page_format(&text, " #%zu", lane + 1);
  ppi_put_text(&out->page, "name", text.bytes ? text.bytes : "");
  out->page.failed |= text.failed;
  ppi_page_clear(&text);
}

static void begin_profile(speedscope *out, const track *of, size_t lane,
                          uint64_t end_ns) {
  ppi_page *page = &out->page;
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "type", "evented");
  ppi_put_text(page, "unit", "nanoseconds");
  put_title(out, of, lane);
  ppi_put_u64(page, "startValue", 0);
  ppi_put_u64(page, "endValue", end_ns);
  ppi_put_array(page, "events");
}

static void close_frames(speedscope *out, slice *open, size_t *num,
                         uint64_t until_ns) {
  while (*num && open[*num - 1].end_ns <= until_ns) {
    const slice *last = &open[--*num];
    put_event(out, 'C', last->site, last->end_ns);
  }
}

// `open` has room for all slices. A slice that would end after its outer one,
// as in damaged or imported logs, ends with it.
static void put_nested(speedscope *out, track *from, slice *open) {
  size_t num = 0;
  uint64_t end_ns = 0;
  for (size_t i = 0; i < from->num; i++)
    end_ns = PPI_MAX(end_ns, from->slices[i].end_ns);
  begin_profile(out, from, 0, end_ns);
  for (size_t i = 0; i < from->num; i++) {
    slice next = from->slices[i];
    close_frames(out, open, &num, next.start_ns);
    if (num && open[num - 1].end_ns < next.end_ns) {
      next.end_ns = open[num - 1].end_ns;
      out->base.left[PPI_PART_PLACE_OVERLAPS]++;
    }
    put_event(out, 'O', next.site, next.start_ns);
    open[num++] = next;
  }
  close_frames(out, open, &num, UINT64_MAX);
  ppi_page_text(&out->page, "]}");
}

// Puts one profile for each row; `lane_of` has the row of each slice.
static void put_rows(speedscope *out, const track *from, const size_t *lane_of,
                     const ppi_export_lanes *lanes) {
  for (size_t lane = 0; lane < lanes->num; lane++) {
    uint64_t at_ns = 0;
    begin_profile(out, from, lane, lanes->ends_ns[lane]);
    for (size_t i = 0; i < from->num; i++) {
      const slice *next = &from->slices[i];
      if (lane_of[i] != lane) continue;
      uint64_t start_ns = PPI_MAX(next->start_ns, at_ns);
      at_ns = PPI_MAX(next->end_ns, start_ns);
      put_event(out, 'O', next->site, start_ns);
      put_event(out, 'C', next->site, at_ns);
    }
    ppi_page_text(&out->page, "]}");
  }
}

static void put_flat(speedscope *out, const track *from) {
  ppi_export_lanes lanes = {0};
  size_t *lane_of = ppi_tool_must(ppi_alloc((from->num + 1) * sizeof *lane_of));
  for (size_t i = 0; i < from->num; i++)
    lane_of[i] = ppi_export_lanes_place(
        &lanes, from->slices[i].start_ns, from->slices[i].end_ns,
        &out->base.left[PPI_PART_PLACE_OVERLAPS]);
  put_rows(out, from, lane_of, &lanes);
  ppi_export_lanes_clear(&lanes);
  ppi_free(lane_of);
}

static void put_track(speedscope *out, track *from) {
  shift(out, from);
  if (from->num > 1)
    qsort(from->slices, from->num, sizeof *from->slices, by_start);
  if (from->kind != THREAD) {
    put_flat(out, from);
    return;
  }
  slice *open = ppi_tool_must(ppi_alloc((from->num + 1) * sizeof *open));
  put_nested(out, from, open);
  ppi_free(open);
}

static void put_head(speedscope *out) {
  ppi_page *page = &out->page;
  const struct ppi_export_rows *sites =
      &out->base.names.kinds[PPROF_DEFINITION_SITE];
  ppi_put_object(page, NULL);
  ppi_put_text(page, "$schema",
               "https://www.speedscope.app/file-format-schema.json");
  ppi_put_line(page);
  ppi_put_text(page, "exporter", "pprof-report " PPI_VERSION);
  ppi_put_text(page, "name",
               out->base.names.num_runs ? out->base.names.runs[0].command : "");
  ppi_put_line(page);
  ppi_put_object(page, "shared");
  ppi_put_array(page, "frames");
  for (size_t i = 0; i < sites->num; i++) {
    ppi_put_line(page);
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", sites->items[i].text);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
  ppi_put_line(page);
  ppi_put_array(page, "profiles");
}

static pprof_status close_speedscope(ppi_export *export, pprof_error *error) {
  speedscope *out = (speedscope *)export;
  put_head(out);
  for (size_t i = 0; i < out->num_tracks; i++) put_track(out, &out->tracks[i]);
  ppi_page_text(&out->page, "]}\n");
  spill(&out->page);
  if (out->page.failed) ppi_tool_must(NULL);
  return ppi_export_end(export->file, error);
}

static void clear_speedscope(ppi_export *export) {
  speedscope *out = (speedscope *)export;
  for (size_t i = 0; i < out->num_tracks; i++) ppi_free(out->tracks[i].slices);
  ppi_free(out->tracks);
  ppi_map_clear(&out->numbers);
  ppi_page_clear(&out->page);
}

static bool open_speedscope(ppi_export *export, const ppi_export_target *target,
                            pprof_error *error) {
  ppi_page *page = &((speedscope *)export)->page;
  (void)target;
  (void)error;
  ppi_page_repeat(page, ' ', PAGE);
  page->len = 0;
  page->spill = spill;
  return true;
}

const ppi_export_format ppi_format_speedscope = {
    .name = "speedscope",
    .ending = ".speedscope.json",
    .holds = "ranges of threads and streams, in the order of time",
    .opened_by = "speedscope",
    .parts = PPI_PART_LOOSE,
    .size = sizeof(speedscope),
    .open = open_speedscope,
    .take = take,
    .close = close_speedscope,
    .clear = clear_speedscope,
};
