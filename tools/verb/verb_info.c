// SPDX-License-Identifier: Apache-2.0
//
// Runs `info`: prints a log's runs, sizes, blocks, windows, threads and
// devices, but no events.
#include <inttypes.h>
#include <stdlib.h>

#include "cli/look.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "file/json_put.h"
#include "input/joined.h"
#include "input/log_info.h"
#include "input/open_ranges.h"
#include "input/segments.h"
#include "verb/verbs.h"
#include "view/fit.h"
#include "view/grid.h"

static const char *state_of(const struct ppi_tool_log_info *log,
                            const struct ppi_tool_run_info *info) {
  if (log->joined)
    return ppi_tool_is_spool(log->path)
               ? "spool of a dead process"
               : "unfinished, read together with its spool";
  if (info->complete)
    return info->totals[PPI_TOTAL_INCOMPLETE] ? "complete, ended without stop"
                                              : "complete";
  if (info->damage.num_bytes &&
      (!info->damage.cut || info->blocks[PPI_LOG_TOTALS].num_blocks))
    return "damaged";
  return "unfinished or cut";
}

static double seconds(uint64_t ns) {
  return (double)ns / 1e9;
}

// Open ranges in checkpoints are no events of their own.
static uint64_t num_events_of(const struct ppi_tool_run_info *info) {
  return info->blocks[PPI_LOG_EVENTS].num_events;
}

static void sum_blocks(const struct ppi_tool_run_info *info,
                       struct ppi_tool_blocks *out) {
  *out = (struct ppi_tool_blocks){0, 0, 0, 0};
  for (unsigned i = 0; i < PPI_TOOL_NUM_TYPES; i++) {
    out->num_blocks += info->blocks[i].num_blocks;
    out->num_events += info->blocks[i].num_events;
    out->raw_bytes += info->blocks[i].raw_bytes;
    out->stored_bytes += info->blocks[i].stored_bytes;
  }
}

static const char *codecs_of(const struct ppi_tool_run_info *info) {
  static const char *const names[4] = {"none", "raw", "zlib", "raw, zlib"};
  return info->codecs > 3 ? "of a newer version" : names[info->codecs];
}

// The text before which a line's value begins: "  note KEY   ".
static size_t put_heading(const char *before, const char *key, ppi_page *out) {
  enum { WIDTH = 25 };
  size_t begin = out->len;
  ppi_page_format(out, "  %s", before);
  ppi_page_visible(out, key);
  size_t width = out->failed
                     ? WIDTH
                     : ppi_page_width(out->bytes + begin, out->len - begin) + 1;
  ppi_page_repeat(out, ' ', width < WIDTH ? WIDTH - width + 1 : 1);
  return PPI_MAX(width, WIDTH);
}

// A value may have several lines, such as the configuration. Its blanks at
// the beginning stay.
static void put_text(const char *before, const char *key, const char *value,
                     ppi_page *out) {
  do {
    ppi_page line = {0};
    size_t len = strcspn(value, "\n"), blanks = strspn(value, " ");
    size_t column = put_heading(before, key, out);
    ppi_page_repeat(out, ' ', blanks);
    ppi_page_bytes(&line, value + blanks, len - blanks);
    ppi_page_wrapped(out, line.len ? line.bytes : "", column + blanks);
    out->failed |= line.failed;
    ppi_page_clear(&line);
    value += len + (value[len] == '\n');
    before = key = "";
  } while (*value);
}

__attribute__((format(printf, 3, 4))) static void put_value(ppi_page *out,
                                                            const char *key,
                                                            const char *format,
                                                            ...) {
  char value[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  put_text("", key, value, out);
}

static void put_grid(ppi_grid *grid, ppi_page *out) {
  if (grid->num_cells) {
    ppi_grid_fit(grid, ppi_page_columns(out));
    ppi_page_text(out, "\n");
    ppi_grid_put_headings(out, grid);
    for (size_t i = 0; i < ppi_grid_num_rows(grid); i++)
      ppi_grid_put_row(out, grid, i);
  }
  ppi_grid_clear(grid);
}

static void add_number(ppi_grid *grid, bool is_known, uint64_t number) {
  if (is_known) ppi_page_format(&grid->text, "%" PRIu64, number);
  ppi_grid_end_cell(grid);
}

static void put_block_rows(const struct ppi_tool_run_info *info,
                           ppi_page *out) {
  ppi_grid_column columns[] = {{.heading = "blocks", .is_left = true},
                               {.heading = "number"},
                               {.heading = "events"},
                               {.heading = "raw bytes"},
                               {.heading = "stored bytes"}};
  ppi_grid grid = {.columns = columns,
                   .num_columns = sizeof columns / sizeof *columns,
                   .indent = 2};
  for (unsigned i = 0; i < PPI_TOOL_NUM_TYPES; i++) {
    const struct ppi_tool_blocks *of = &info->blocks[i];
    if (!of->num_blocks) continue;
    ppi_page_text(&grid.text, ppi_tool_block_name(i));
    ppi_grid_end_cell(&grid);
    add_number(&grid, true, of->num_blocks);
    add_number(&grid, true, of->num_events);
    add_number(&grid, true, of->raw_bytes);
    add_number(&grid, true, of->stored_bytes);
  }
  put_grid(&grid, out);
}

static void put_definition_rows(const struct ppi_tool_run_info *info,
                                ppi_page *out) {
  static const char *const names[] = {[PPROF_DEFINITION_LANE] = "lane",
                                      [PPROF_DEFINITION_DEVICE] = "device",
                                      [PPROF_DEFINITION_STREAM] = "stream"};
  ppi_grid_column columns[] = {
      {.heading = "definition", .is_left = true},
      {.heading = "id"},
      {.heading = "of device"},
      {.heading = "number"},
      {.heading = "name", .floor = PPI_FLOOR_OF_NAMES, .is_left = true}};
  ppi_grid grid = {.columns = columns,
                   .num_columns = sizeof columns / sizeof *columns,
                   .indent = 2};
  for (unsigned k = PPROF_DEFINITION_LANE; k <= PPROF_DEFINITION_STREAM; k++) {
    for (size_t id = 0; id < info->num_places[k]; id++) {
      if (!info->places[k][id]) continue;
      const struct ppi_tool_definition *item =
          &info->definitions[info->places[k][id] - 1];
      ppi_page_text(&grid.text, names[k]);
      ppi_grid_end_cell(&grid);
      add_number(&grid, true, item->id);
      add_number(&grid, k == PPROF_DEFINITION_STREAM, item->parent);
      add_number(&grid,
                 k == PPROF_DEFINITION_STREAM ||
                     (k == PPROF_DEFINITION_LANE && item->number),
                 item->number);
      ppi_page_visible(&grid.text, item->name);
      ppi_grid_end_cell(&grid);
    }
  }
  put_grid(&grid, out);
}

static void put_numbers(const struct ppi_tool_run_info *info, ppi_page *out) {
  static const char *const names[PPI_TOOL_NUM_KINDS] = {
      NULL, "sites", "categories", "lanes", "devices", "streams", "attributes"};
  ppi_page text = {0};
  for (unsigned k = PPROF_DEFINITION_SITE; k < PPI_TOOL_NUM_KINDS; k++)
    if (k != PPROF_DEFINITION_ATTRIBUTES || info->num_of_kind[k])
      ppi_page_format(&text, "%s%" PRIu64 " %s", k > 1 ? ", " : "",
                      info->num_of_kind[k], names[k]);
  if (!text.failed) put_text("", "definitions", text.bytes, out);
  out->failed |= text.failed;
  ppi_page_clear(&text);
}

static void put_window_rows(const struct ppi_tool_run_info *info,
                            ppi_page *out) {
  for (size_t i = 0; i < info->num_windows; i++) {
    const struct ppi_tool_window *window = &info->windows[i];
    char key[32];
    snprintf(key, sizeof key, "window %" PRIu32, window->index);
    if (window->closed)
      put_value(out, key, "%.9f s to %.9f s", seconds(window->opens_ns),
                seconds(window->closes_ns));
    else
      put_value(out, key, "%.9f s to the end of the log",
                seconds(window->opens_ns));
  }
}

static void put_sizes(const struct ppi_tool_log_info *log,
                      const struct ppi_tool_run_info *info, ppi_page *out) {
  const char *key = log->trace_bytes ? "size as a log" : "size";
  const uint64_t num_events = num_events_of(info);
  struct ppi_tool_blocks all;
  sum_blocks(info, &all);
  if (log->trace_bytes)
    put_value(out, "trace", "%" PRIu64 " bytes", log->trace_bytes);
  if (all.raw_bytes)
    put_value(out, key,
              "%" PRIu64 " bytes, %.1f %% of %" PRIu64 " raw, codec %s",
              info->num_bytes,
              100.0 * (double)all.stored_bytes / (double)all.raw_bytes,
              all.raw_bytes, codecs_of(info));
  else
    put_value(out, key, "%" PRIu64 " bytes", info->num_bytes);
  if (info->compressor[0]) put_text("", "compressor", info->compressor, out);
  if (num_events)
    put_value(
        out, "events", "%" PRIu64 ", %.2f bytes each", num_events,
        (double)info->blocks[PPI_LOG_EVENTS].stored_bytes / (double)num_events);
  if (info->damage.num_bytes || info->damage.num_missing)
    put_value(out, "damage",
              "%" PRIu64 " bytes from byte %" PRIu64 " on, %" PRIu64
              " blocks missing",
              info->damage.num_bytes, info->damage.first_offset,
              info->damage.num_missing);
}

static void put_table(const struct ppi_tool_log_info *log, size_t at,
                      ppi_page *out) {
  const struct ppi_tool_run_info *info = &log->runs[at];
  char start[40];
  const char *base = ppi_tool_run_info_text(info, "time_base_realtime_ns");
  const uint64_t base_ns = base ? strtoull(base, NULL, 10) : 0;
  ppi_tool_time(base_ns, 3, start);
  ppi_page_visible(out, ppi_tool_name_of(log->path));
  if (log->num_runs > 1)
    ppi_page_format(out, ", run %zu of %zu", at + 1, log->num_runs);
  ppi_page_text(out, "\n");
  put_text("", "state", state_of(log, info), out);
  if (base_ns && *start) put_text("", "started", start, out);
  put_value(out, "lasted", "%.9f s", seconds(info->last_ns));
  if (log->skimmed)
    put_text("", "looked at", "all but the events; `check` reads them, too",
             out);
  put_sizes(log, info, out);
  for (size_t i = 0; i < info->texts.num; i++)
    put_text("", info->texts.items[i].key, info->texts.items[i].value, out);
  for (size_t i = 0; i < info->notes.num; i++)
    put_text("note ", info->notes.items[i].key, info->notes.items[i].value,
             out);
  put_numbers(info, out);
  put_window_rows(info, out);
  put_block_rows(info, out);
  put_definition_rows(info, out);
}

static void put_blocks(const struct ppi_tool_run_info *info, ppi_page *out) {
  ppi_put_object(out, "blocks");
  for (unsigned i = 0; i < PPI_TOOL_NUM_TYPES; i++) {
    const struct ppi_tool_blocks *blocks = &info->blocks[i];
    if (!blocks->num_blocks) continue;
    ppi_put_object(out, ppi_tool_block_name(i));
    ppi_put_u64(out, "number", blocks->num_blocks);
    ppi_put_u64(out, "events", blocks->num_events);
    ppi_put_u64(out, "raw_bytes", blocks->raw_bytes);
    ppi_put_u64(out, "stored_bytes", blocks->stored_bytes);
    ppi_page_text(out, "}");
  }
  ppi_page_text(out, "}");
}

static void put_definitions(const struct ppi_tool_run_info *info,
                            pprof_definition_kind kind, const char *key,
                            ppi_page *out) {
  ppi_put_array(out, key);
  for (size_t id = 0; id < info->num_places[kind]; id++) {
    uint32_t place = info->places[kind][id];
    if (!place) continue;
    const struct ppi_tool_definition *item = &info->definitions[place - 1];
    ppi_put_object(out, NULL);
    ppi_put_u64(out, "id", item->id);
    ppi_put_text(out, "name", item->name);
    ppi_put_u64(out, "parent", item->parent);
    ppi_put_u64(out, "number", item->number);
    ppi_page_text(out, "}");
  }
  ppi_page_text(out, "]");
}

static void put_windows(const struct ppi_tool_run_info *info, ppi_page *out) {
  ppi_put_array(out, "windows");
  for (size_t i = 0; i < info->num_windows; i++) {
    const struct ppi_tool_window *window = &info->windows[i];
    ppi_put_object(out, NULL);
    ppi_put_u64(out, "index", window->index);
    ppi_put_u64(out, "opens_ns", window->opens_ns);
    if (window->closed) ppi_put_u64(out, "closes_ns", window->closes_ns);
    ppi_page_text(out, "}");
  }
  ppi_page_text(out, "]");
}

static void put_texts(const struct ppi_tool_run_info *info, ppi_page *out) {
  ppi_put_object(out, "run");
  for (size_t i = 0; i < info->texts.num; i++) {
    ppi_put_text(out, NULL, info->texts.items[i].key);
    ppi_page_text(out, ":");
    ppi_page_json(out, info->texts.items[i].value);
  }
  ppi_page_text(out, "}");
  if (!info->notes.num) return;
  ppi_put_array(out, "notes");
  for (size_t i = 0; i < info->notes.num; i++) {
    ppi_put_object(out, NULL);
    ppi_put_text(out, "key", info->notes.items[i].key);
    ppi_put_text(out, "text", info->notes.items[i].value);
    ppi_page_text(out, "}");
  }
  ppi_page_text(out, "]");
}

static void put_json(const struct ppi_tool_log_info *log, size_t at,
                     ppi_page *out) {
  const struct ppi_tool_run_info *info = &log->runs[at];
  const uint64_t *num_of = info->num_of_kind;
  ppi_put_object(out, NULL);
  ppi_put_text(out, "path", log->path);
  if (log->num_runs > 1) {
    ppi_put_u64(out, "run_number", at + 1);
    ppi_put_u64(out, "num_runs", log->num_runs);
  }
  ppi_put_bool(out, "complete", info->complete && !log->joined);
  ppi_put_text(out, "state", state_of(log, info));
  if (log->skimmed) ppi_put_bool(out, "events_read", false);
  if (log->trace_bytes) ppi_put_u64(out, "trace_bytes", log->trace_bytes);
  ppi_put_u64(out, log->trace_bytes ? "log_bytes" : "file_bytes",
              info->num_bytes);
  ppi_put_u64(out, "duration_ns", info->last_ns);
  ppi_put_u64(out, "events", num_events_of(info));
  ppi_put_text(out, "codec", codecs_of(info));
  if (info->compressor[0]) ppi_put_text(out, "compressor", info->compressor);
  ppi_put_object(out, "damage");
  ppi_put_u64(out, "first_offset", info->damage.first_offset);
  ppi_put_u64(out, "bytes", info->damage.num_bytes);
  ppi_put_u64(out, "blocks_missing", info->damage.num_missing);
  ppi_page_text(out, "}");
  put_texts(info, out);
  put_blocks(info, out);
  ppi_put_u64(out, "sites", num_of[PPROF_DEFINITION_SITE]);
  ppi_put_u64(out, "categories", num_of[PPROF_DEFINITION_CATEGORY]);
  if (num_of[PPROF_DEFINITION_ATTRIBUTES])
    ppi_put_u64(out, "attributes", num_of[PPROF_DEFINITION_ATTRIBUTES]);
  put_definitions(info, PPROF_DEFINITION_LANE, "lanes", out);
  put_definitions(info, PPROF_DEFINITION_DEVICE, "devices", out);
  put_definitions(info, PPROF_DEFINITION_STREAM, "streams", out);
  put_windows(info, out);
  ppi_page_text(out, "}");
}

struct listing {
  bool json;
  size_t empty;  // length of the page without a log
  ppi_page page;
};

// Appends the data of each run of a log, and answers the exit status.
static int put_log(const char *path, void *user) {
  struct listing *to = user;
  struct ppi_tool_log_info info;
  int code = ppi_tool_log_info_read(path, &info);
  for (size_t i = 0; code != PPI_EXIT_INPUT && i < info.num_runs; i++) {
    if (!to->json && to->page.len > to->empty) ppi_page_text(&to->page, "\n");
    (to->json ? put_json : put_table)(&info, i, &to->page);
  }
  ppi_tool_log_info_clear(&info);
  return code;
}

int ppi_tool_info(const struct ppi_tool_options *options) {
  if (options->live) return ppi_tool_open_live(options);
  struct listing to = {.json = strcmp(options->format, "json") == 0};
  ppi_report_options look = {.width = 0};
  if (options->tables.columns)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'--columns' is for '--live' alone");
  ppi_tool_look(options, &look);
  to.page.width = look.is_wide ? SIZE_MAX : look.width;
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  if (to.json) {
    ppi_tool_rows_begin(&to.page, "pprof.info/1");
    ppi_put_array(&to.page, "logs");
  }
  to.empty = to.page.len;
  code = ppi_tool_segments_each(options, put_log, &to);
  bool any = to.page.len > to.empty;
  if (to.json) ppi_page_text(&to.page, "]}\n");
  if (any) return ppi_tool_output_page(options, &to.page, code);
  ppi_page_clear(&to.page);
  return code;
}
