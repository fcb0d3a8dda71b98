// SPDX-License-Identifier: Apache-2.0
//
// Runs `cost`: prints the work of an ONNX model, as known before it runs.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "cost/table/cost.h"
#include "cost/table/cost_view.h"
#include "cost/table/deepspeed.h"
#include "event/event.h"
#include "file/json_put.h"
#include "import/importer.h"
#include "input/input.h"
#include "verb/costs.h"
#include "verb/verbs.h"

// ---- how long a model's nodes took ----

// Sites and attributes map to a row's number, or to one of these.
enum { NOTHING = 0, RUN = UINT32_MAX, STRANGER = UINT32_MAX - 1 };

typedef struct ids {
  uint32_t *items;
  size_t num, capacity;
} ids;

// A run, or a node's range.
typedef struct timed {
  uint64_t start_ns, ns;
  uint32_t what;
} timed;

typedef struct timings {
  timed *items;
  size_t num, capacity;
} timings;

typedef struct joining {
  pprof_sink base;
  ppi_cost *cost;
  ppi_map names;  // of rows
  ids rows;       // by name, from 1
  ids sites, attributes;
  timings runs, nodes;
} joining;

// ---- the sink ----

static bool set_id(ids *to, uint32_t id, uint32_t what) {
  if (!PPI_ROOM(to->items, to->capacity, (size_t)id + 1)) return false;
  for (; to->num <= id; to->num++) to->items[to->num] = NOTHING;
  to->items[id] = what;
  return true;
}

static uint32_t find_id(const ids *from, uint32_t id) {
  return id < from->num ? from->items[id] : (uint32_t)NOTHING;
}

static uint32_t row_of(const joining *join, const char *name) {
  size_t at = ppi_map_find(&join->names, ppi_map_key_of(name, ""));
  return at == SIZE_MAX ? (uint32_t)NOTHING
                        : find_id(&join->rows, (uint32_t)at);
}

// Finds the text of `"node":"..."`; a quote or backslash ends it.
static uint32_t node_of(const joining *join, const char *json) {
  static const char key[] = "\"node\":\"";
  char name[PPI_IMPORT_MAX_NAME + 1];
  const char *at = strstr(json, key);
  if (!at) return NOTHING;
  at += sizeof key - 1;
  size_t len = strcspn(at, "\"\\");
  if (len == 0 || len >= sizeof name) return STRANGER;
  memcpy(name, at, len);
  name[len] = '\0';
  uint32_t row = row_of(join, name);
  return row ? row : (uint32_t)STRANGER;
}

static pprof_status take_definition(pprof_sink *sink,
                                    const pprof_definition *definition) {
  joining *join = (joining *)sink;
  bool ok = true;
  if (definition->kind == PPROF_DEFINITION_ATTRIBUTES)
    ok = set_id(&join->attributes, definition->id,
                node_of(join, definition->name));
  if (definition->kind == PPROF_DEFINITION_SITE) {
    bool is_run = definition->parent == PPROF_CATEGORY_PROFILE_STEP ||
                  strcmp(definition->name, "model_run") == 0;
    ok = set_id(&join->sites, definition->id,
                is_run ? (uint32_t)RUN : row_of(join, definition->name));
  }
  return ok ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static bool add_range(joining *join, const pprof_event *event) {
  bool on_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  uint64_t start = on_device ? event->device_start_ns : event->start_ns;
  uint64_t end = on_device ? event->device_end_ns : event->end_ns;
  uint32_t what = find_id(&join->attributes, event->attributes);
  if (what == NOTHING) what = find_id(&join->sites, event->site);
  if (what == NOTHING) return true;
  timings *to = what == RUN ? &join->runs : &join->nodes;
  if (!PPI_ROOM(to->items, to->capacity, to->num + 1)) return false;
  to->items[to->num++] = (timed){start, end > start ? end - start : 0, what};
  return true;
}

static bool is_timed(const pprof_event *event) {
  if (event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED)) return false;
  return event->kind == PPROF_KIND_RANGE ||
         (event->kind == PPROF_KIND_DEVICE_RANGE && event->device_end_ns);
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (is_timed(event) && !add_range((joining *)sink, event))
      return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

// ---- from events to rows ----

static int by_start(const void *left, const void *right) {
  const timed *a = left, *b = right;
  return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

// The run around a time; SIZE_MAX: none.
static size_t run_at(const timings *runs, uint64_t ns) {
  size_t low = 0, high = runs->num;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (runs->items[middle].start_ns <= ns)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low || ns - runs->items[low - 1].start_ns > runs->items[low - 1].ns)
    return SIZE_MAX;
  return low - 1;
}

// Whether the node has inner nodes, which have times of their own.
static bool holds_others(const ppi_cost_row *row) {
  return strcmp(row->op_type, "If") == 0 || strcmp(row->op_type, "Loop") == 0 ||
         strcmp(row->op_type, "Scan") == 0;
}

static void give(joining *join, const timed *event, double share) {
  ppi_cost_times *times = &join->cost->times;
  double ns = (double)event->ns * share;
  if (event->what == STRANGER) {
    times->strange_ns += ns;
    times->num_strange++;
    return;
  }
  ppi_cost_row *row = &join->cost->rows[event->what - 1];
  if (holds_others(row)) return;
  row->is_timed = true;
  row->ns += ns;
  times->node_ns += ns;
}

// Without runs, each range is a call of its node.
static bool give_means(joining *join) {
  ids calls = {0};
  bool ok = true;
  for (size_t i = 0; i < join->nodes.num && ok; i++) {
    uint32_t what = join->nodes.items[i].what;
    if (what != STRANGER) ok = set_id(&calls, what, find_id(&calls, what) + 1);
  }
  for (size_t i = 0; i < join->nodes.num && ok; i++) {
    uint32_t num = find_id(&calls, join->nodes.items[i].what);
    give(join, &join->nodes.items[i], num ? 1.0 / num : 1);
  }
  ppi_free(calls.items);
  return ok;
}

static void give_runs(joining *join, long step) {
  const timings *runs = &join->runs;
  ppi_cost_times *times = &join->cost->times;
  size_t from = step >= 0 ? (size_t)step : runs->num > 1;
  size_t to = step >= 0 ? from + 1 : runs->num;
  times->num_chosen = to - from;
  double share = 1.0 / (double)times->num_chosen;
  for (size_t i = from; i < to; i++)
    times->run_ns += (double)runs->items[i].ns * share;
  for (size_t i = 0; i < join->nodes.num; i++) {
    size_t run = run_at(runs, join->nodes.items[i].start_ns);
    if (run >= from && run < to) give(join, &join->nodes.items[i], share);
  }
}

static int give_all(joining *join, const char *path, long step) {
  timings *runs = &join->runs;
  join->cost->times =
      (ppi_cost_times){.is_there = true, .num_runs = runs->num, .step = step};
  // The nodes of ranges with later attributes are unknown.
  if (join->attributes.num > PPI_IMPORT_MAX_ATTRIBUTES)
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: it has more than %d different properties of "
                         "nodes: record fewer runs",
                         path, PPI_IMPORT_MAX_ATTRIBUTES);
  if (runs->num) qsort(runs->items, runs->num, sizeof *runs->items, by_start);
  if (step >= 0 && (size_t)step >= runs->num)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "%s: --step %ld: it has %zu runs, counted from 0",
                         path, step, runs->num);
  if (runs->num)
    give_runs(join, step);
  else if (!give_means(join))
    return PPI_EXIT_INPUT;
  if (join->cost->times.node_ns > 0) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_INPUT,
                       "%s: no range is of a node of this model: names are the "
                       "running model's, see docs/cost.md",
                       path);
}

// Maps names to rows; of several rows of one name, the first.
static bool name_rows(joining *join) {
  for (size_t i = 0; i < join->cost->num_rows; i++) {
    const char *name = join->cost->rows[i].name;
    if (!*name) continue;
    size_t at = ppi_map_number(&join->names, ppi_map_key_of(name, ""));
    if (at == SIZE_MAX) return false;
    if (at == join->rows.num &&
        !set_id(&join->rows, (uint32_t)at, (uint32_t)i + 1))
      return false;
  }
  return true;
}

// ppi_tool_node_times reads the trace or log `path` and gives each row of
// `cost` the time of its node's ranges in one run. ONNX Runtime's `node`, or
// else the range's name, finds the node. `step` selects a run (`model_run`, a
// step), from 0; -1: the mean of all runs but the first, if there are several.
// Answers PPI_EXIT_DONE, or another after a message.
static int ppi_tool_node_times(const char *path, long step, ppi_cost *cost) {
  struct ppi_tool_watch watch;
  joining join = {.base = {.size = sizeof(pprof_sink),
                           .define = take_definition,
                           .events = take_events},
                  .cost = cost};
  bool ok = name_rows(&join);
  int code = ok ? ppi_tool_read(path, &join.base, &watch) : PPI_EXIT_INPUT;
  if (ok && watch.sink_failed) ok = false;
  if (!ok) ppi_tool_say("out of memory");
  if (ok && code != PPI_EXIT_INPUT) {
    int given = give_all(&join, path, step);
    code = given == PPI_EXIT_DONE ? code : given;
  }
  ppi_map_clear(&join.names);
  ppi_free(join.rows.items);
  ppi_free(join.sites.items);
  ppi_free(join.attributes.items);
  ppi_free(join.runs.items);
  ppi_free(join.nodes.items);
  return ok ? code : PPI_EXIT_INPUT;
}

// ---- the rest ----

enum { USUAL_DEPTH = 3 };

static ppi_cost_by by_of(const char *name) {
  static const char *const names[] = {"module", "operator", "module,operator",
                                      "node"};
  unsigned by = 0;
  while (by < PPI_COST_BY_NODE && strcmp(names[by], name) != 0) by++;
  return (ppi_cost_by)by;
}

static void put_head(ppi_page *page, const char *path,
                     const ppi_cost_groups *groups) {
  ppi_tool_rows_begin(page, "pprof.cost/1");
  ppi_put_line(page);
  ppi_put_text(page, "model", path);
  ppi_cost_totals(page, groups);
}

static int print(const struct ppi_tool_options *options, const char *path,
                 ppi_cost *cost) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_cost_by by = by_of(options->cost.by);
  long depth =
      options->tables.depth == LONG_MIN ? USUAL_DEPTH : options->tables.depth;
  ppi_page page = {.is_raw = options->raw};
  ppi_cost_groups groups;
  ppi_view view = {0};
  bool ok =
      ppi_cost_group_by(cost, by, depth, &groups) &&
      ppi_cost_view(cost, &groups, by, format, options->tables.top, &view);
  if (ok) {
    if (format == PPI_FORMAT_JSON) put_head(&page, path, &groups);
    ppi_tool_rows_all(&page, &view, options, NULL);
  }
  page.failed |= !ok;
  ppi_view_clear(&view);
  ppi_cost_groups_clear(&groups);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

static int print_as_deepspeed(const struct ppi_tool_options *options,
                              ppi_cost *cost) {
  ppi_page page = {0};
  ppi_cost_groups groups;
  bool ok = ppi_cost_group_by(cost, PPI_COST_BY_MODULE, options->tables.depth,
                              &groups);
  if (ok) ppi_cost_deepspeed(&page, cost, &groups, options->tables.top);
  page.failed |= !ok;
  ppi_cost_groups_clear(&groups);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

static int count(const struct ppi_tool_options *options) {
  const char *path = options->inputs[0];
  ppi_cost cost;
  int code = ppi_tool_model_cost("", path, options->cost.dims, &cost);
  if (code == PPI_EXIT_DONE && options->cost.times)
    code = ppi_tool_node_times(options->cost.times, options->cost.step, &cost);
  if (code == PPI_EXIT_DONE)
    code = options->tables.style ? print_as_deepspeed(options, &cost)
                                 : print(options, path, &cost);
  bool is_unused = cost.unused != NULL;
  if (is_unused)
    ppi_tool_say("%s: no dimension or tensor is called '%s'", path,
                 cost.unused);
  ppi_cost_clear(&cost);
  return is_unused && code == PPI_EXIT_DONE ? PPI_EXIT_USAGE : code;
}

int ppi_tool_cost(const struct ppi_tool_options *options) {
  int code = ppi_tool_output_check(options, options->output);
  if (options->num_inputs > 1) {
    ppi_tool_say("cost takes one model");
    code = PPI_EXIT_USAGE;
  }
  if (options->tables.style &&
      ppi_report_format_of(options->format) != PPI_FORMAT_TABLE) {
    ppi_tool_say("'--style deepspeed' is a page of text: leave out '-f %s'",
                 options->format);
    code = PPI_EXIT_USAGE;
  }
  if (options->cost.step >= 0 && !options->cost.times) {
    ppi_tool_say("--step needs --times");
    code = PPI_EXIT_USAGE;
  }
  return code == PPI_EXIT_DONE ? count(options) : code;
}
