// SPDX-License-Identifier: Apache-2.0
//
// Runs `cost`: prints the work of an ONNX model, as known before it runs.
// Python's pprof._model counts and groups; the trace's ranges go to it.
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "file/json_put.h"
#include "import/importer.h"
#include "input/input.h"
#include "verb/costs.h"
#include "verb/verbs.h"

// ---- the trace's ranges ----

// Texts that end with a zero: a kind, an id and a name for what Python may know
// by name, and a range's times and ids.
struct ranges {
  pprof_sink base;
  FILE *out;
  uint32_t num_attributes;
};

// Finds the text of `"node":"..."`; a quote or backslash ends it.
static const char *node_of(const char *json, size_t *out_len) {
  static const char key[] = "\"node\":\"";
  const char *at = strstr(json, key);
  if (!at) return NULL;
  at += sizeof key - 1;
  *out_len = strcspn(at, "\"\\");
  return at;
}

static pprof_status take_definition(pprof_sink *sink,
                                    const pprof_definition *definition) {
  struct ranges *to = (struct ranges *)sink;
  const char *name = definition->name;
  size_t len = strlen(name);
  bool is_run = definition->parent == PPROF_CATEGORY_PROFILE_STEP ||
                strcmp(name, "model_run") == 0;
  char kind = is_run ? 'r' : 's';
  if (definition->kind == PPROF_DEFINITION_ATTRIBUTES) {
    kind = 'a';
    to->num_attributes = PPI_MAX(to->num_attributes, definition->id + 1);
    name = node_of(name, &len);
  } else if (definition->kind != PPROF_DEFINITION_SITE) {
    name = NULL;
  }
  if (name)
    fprintf(to->out, "%c\t%" PRIu32 "\t%.*s%c", kind, definition->id, (int)len,
            name, '\0');
  return PPROF_STATUS_OK;
}

static void put_range(const struct ranges *to, const pprof_event *event) {
  bool on_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  uint64_t start = on_device ? event->device_start_ns : event->start_ns;
  uint64_t end = on_device ? event->device_end_ns : event->end_ns;
  if ((event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED)) ||
      (on_device ? !event->device_end_ns : event->kind != PPROF_KIND_RANGE))
    return;
  fprintf(to->out, "e\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "%c",
          start, end > start ? end - start : 0, event->attributes, event->site,
          '\0');
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  const struct ranges *to = (struct ranges *)sink;
  for (size_t i = 0; i < batch->num_events; i++)
    put_range(to, pprof_batch_at(batch, i));
  return PPROF_STATUS_OK;
}

static int read_ranges(const char *path, FILE *out) {
  struct ppi_tool_watch watch;
  struct ranges ranges = {.base = {.size = sizeof(pprof_sink),
                                   .define = take_definition,
                                   .events = take_events},
                          .out = out};
  int code = ppi_tool_read(path, &ranges.base, &watch);
  // The nodes of ranges with later attributes are unknown.
  if (code != PPI_EXIT_INPUT &&
      ranges.num_attributes > PPI_IMPORT_MAX_ATTRIBUTES)
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: it has more than %d different properties of "
                         "nodes: record fewer runs",
                         path, PPI_IMPORT_MAX_ATTRIBUTES);
  if (fflush(out) == 0 && !ferror(out)) return code;
  return ppi_tool_fail(PPI_EXIT_INPUT, "%s: no room for a temporary file",
                       path);
}

// ---- the view ----

// The last two of a row: its heading and its place where there are times.
// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 24, 1, "Name", 1) \
  each(module, NULL, NULL, 0, 0, NULL, 0) \
  each(operator, NULL, NULL, 0, 0, NULL, 0) \
  each(level, NULL, NULL, 0, 0, NULL, 0) \
  each(nodes, NULL, NULL, 0, 0, NULL, 0) \
  each(type, NULL, NULL, 0, 0, NULL, 0) \
  each(parameters, NULL, "Params", 6, 2, "Params", 0) \
  each(parameter_bytes, "B", NULL, 0, 0, NULL, 0) \
  each(macs, NULL, "MACs", 6, 3, "MACs", 2) \
  each(flops, NULL, "FLOPs", 6, 4, "FLOPs", 3) \
  each(elementwise_flops, NULL, NULL, 0, 0, NULL, 0) \
  each(input_bytes, "B", "In", 6, 5, NULL, 0) \
  each(weight_bytes, "B", "Weights", 7, 0, NULL, 0) \
  each(output_bytes, "B", "Out", 6, 6, NULL, 0) \
  each(intensity, "FLOP/B", "FLOP/B", 6, 7, "FLOP/B", 4) \
  each(share, "%", "Share", 6, 8, "Share", 0) \
  each(output, NULL, NULL, 0, 0, NULL, 0) \
  each(shape, NULL, NULL, 0, 0, NULL, 0) \
  each(times, NULL, NULL, 0, 0, NULL, 0) \
  each(at_least, NULL, NULL, 0, 0, NULL, 0) \
  each(reason, NULL, NULL, 0, 0, NULL, 0) \
  each(time, "ns", "Time", 8, 0, "Time", 5) \
  each(time_share, "%", "Time(%)", 7, 0, "Time(%)", 6) \
  each(flop_rate, "GFLOP/s", "GFLOP/s", 7, 0, "GFLOP/s", 7) \
  each(byte_rate, "GB/s", "GB/s", 7, 0, "GB/s", 8)
// clang-format on
PPI_VIEW_TABLE(cost, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);
#define TIMED_OF(name, unit, heading, width, brief, timed, its_brief) \
  {timed, width, its_brief},
static const ppi_layout timed_layout[] = {COLUMNS(TIMED_OF)};
// Leaves out the last columns if there are no times.
static const ppi_view_kind kind = {.name = "cost",
                                   .title = "Cost",
                                   .columns = cost_columns,
                                   .num_columns = CELL_time,
                                   .layout = cost_layout};
static const ppi_view_kind timed_kind = {.name = "cost",
                                         .title = "Cost",
                                         .columns = cost_columns,
                                         .num_columns = NUM_COLUMNS,
                                         .layout = timed_layout};

// What was answered: the view's rows and notes, or a page of lines.
struct answer {
  ppi_view view;
  const char *totals, *unused;
};

static void take(void *user, char *const *words, size_t num) {
  struct answer *to = user;
  ppi_page *note = &to->view.note;
  if (strcmp(words[0], "totals") == 0) to->totals = words[1];
  if (strcmp(words[0], "unused") == 0) to->unused = words[1];
  if (strcmp(words[0], "line") == 0) {
    ppi_page_visible(note, words[1]);
    ppi_page_text(note, "\n");
  }
  if (strcmp(words[0], "row") != 0) return;
  ppi_cell *cells = ppi_tool_row(&to->view);
  ppi_view_last_row(&to->view)->indent = strtoul(words[1], NULL, 10);
  for (size_t i = 2; i < num; i++)
    cells[i - 2] = ppi_tool_cell_of(&to->view, words[i]);
}

static int print(const struct ppi_tool_options *options, const char *path,
                 struct answer *answer) {
  ppi_page page = {.is_raw = options->raw};
  if (options->tables.style) {
    page = answer->view.note;
    answer->view.note = (ppi_page){0};
    return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
  }
  if (answer->totals &&
      ppi_report_format_of(options->format) == PPI_FORMAT_JSON) {
    ppi_tool_rows_begin(&page, "pprof.cost/1");
    ppi_put_line(&page);
    ppi_put_text(&page, "model", path);
    ppi_put_line(&page);
    ppi_put_key(&page, "totals");
    ppi_page_text(&page, answer->totals);
  }
  ppi_tool_rows_all(&page, &answer->view, options, NULL);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

// ---- the rest ----

static long or_else(long given, long usual) {
  return given == LONG_MIN ? usual : given;
}

static int count(const struct ppi_tool_options *options, FILE *ranges) {
  enum { USUAL_DEPTH = 3 };
  const char *path = options->inputs[0], *trace = options->cost.times;
  const char *dims = options->cost.dims;
  ppi_report_format format = ppi_report_format_of(options->format);
  bool is_page = options->tables.style != NULL;
  char depth[24], top[24], step[24];
  int code = trace ? read_ranges(trace, ranges) : PPI_EXIT_DONE;
  if (code == PPI_EXIT_INPUT) return code;
  snprintf(depth, sizeof depth, "%ld",
           or_else(options->tables.depth, is_page ? 0 : USUAL_DEPTH));
  snprintf(top, sizeof top, "%ld", or_else(options->tables.top, 0));
  snprintf(step, sizeof step, "%ld", options->cost.step);
  bool for_people = format == PPI_FORMAT_TABLE || format == PPI_FORMAT_MARKDOWN;
  const char *const words[] = {path,
                               dims ? dims : "",
                               is_page ? "deepspeed" : options->cost.by,
                               depth,
                               top,
                               for_people ? "yes" : "",
                               step,
                               trace ? trace : "",
                               NULL};
  struct answer answer = {.view = {.kind = trace ? &timed_kind : &kind}};
  ppi_buffer text = {0};
  int counted = ppi_tool_model_ask("", words, ranges, &text,
                                   (ppi_model_words){take, &answer});
  if (code == PPI_EXIT_DONE && counted == PPI_EXIT_DONE)
    code = print(options, path, &answer);
  if (answer.unused) ppi_tool_say("%s", answer.unused);
  if (answer.unused && counted == PPI_EXIT_DONE) counted = PPI_EXIT_USAGE;
  ppi_view_clear(&answer.view);
  ppi_buffer_clear(&text);
  return code == PPI_EXIT_DONE ? counted : code;
}

int ppi_tool_cost(const struct ppi_tool_options *options) {
  int code = ppi_tool_output_check(options, options->output);
  if (options->num_inputs > 1)
    code = ppi_tool_fail(PPI_EXIT_USAGE, "cost takes one model");
  if (options->tables.style &&
      ppi_report_format_of(options->format) != PPI_FORMAT_TABLE)
    code = ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'--style deepspeed' is a page of text: leave out '-f %s'",
        options->format);
  if (options->cost.step >= 0 && !options->cost.times)
    code = ppi_tool_fail(PPI_EXIT_USAGE, "--step needs --times");
  if (code != PPI_EXIT_DONE) return code;
  FILE *ranges = options->cost.times ? tmpfile() : NULL;
  if (options->cost.times && !ranges)
    return ppi_tool_fail(PPI_EXIT_INPUT, "no temporary file can be made");
  code = count(options, ranges);
  if (ranges) fclose(ranges);
  return code;
}
