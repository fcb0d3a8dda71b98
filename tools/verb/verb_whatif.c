// SPDX-License-Identifier: Apache-2.0
//
// Runs `whatif`: computes the most that a run can do if stages take longer or
// shorter, by the laws of its servers. Without --scale each stage in turn takes
// half.
#include <math.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "cli/suggest.h"
#include "names/glob.h"
#include "verb/reports.h"
#include "verb/verbs.h"

enum { MOST_NAME = 256 };

// clang-format off
// A gain is rounded to the hundredth of tables, to avoid -0.00.
#define COLUMNS(each) \
  each(stage, NULL, NULL, 0, 1, text(demand->name)) \
  each(kind, NULL, NULL, 0, 0, text(ppi_server_kind_name(server->kind))) \
  each(server, NULL, NULL, 0, 2, text(server->name)) \
  each(servers, NULL, NULL, 0, 0, count(server->num)) \
  each(busy, "%", NULL, 0, 3, decimal(100 * server->utilization)) \
  each(time, "ns", NULL, 0, 4, time((uint64_t)(demand->demand_ns + 0.5))) \
  each(factor, NULL, NULL, 0, 5, decimal(of->factor)) \
  each(gain_at_most, "%", NULL, 0, 6, \
       decimal(fabs(of->gain) < 5e-5 ? 0 : 100 * of->gain)) \
  each(then_limits, NULL, NULL, 0, 7, \
       text(of->next < all->limit->num_servers \
                ? all->limit->servers[of->next].name \
                : "its own time"))
// clang-format on
PPI_VIEW_TABLE(whatif, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);
static const ppi_table_column table_columns[] = {
    {"Stage", 10, CELL_stage, 1},
    {"Server", 10, CELL_server, 1},
    {"Kind", 7, CELL_kind, 1},
    {"Servers", 7, CELL_servers, 1},
    {"Busy(%)", 7, CELL_busy, 1},
    {"Time", 6, CELL_time, 1},
    {"Factor", 6, CELL_factor, 1},
    {"Gain at most(%)", 15, CELL_gain_at_most, 1},
    {"Then limits", 11, CELL_then_limits, 1},
};
static const ppi_view_kind kind = {
    PPI_VIEW_OF(whatif, "whatif", "What If"), .table_columns = table_columns,
    .num_table_columns = sizeof table_columns / sizeof *table_columns};

typedef struct row {
  size_t demand;
  double factor, gain;
  uint32_t next;
} row;

typedef struct whatif {
  const struct ppi_tool_options *options;
  const ppi_limit *limit;
  double factors[PPI_LIMIT_DEMANDS];
  bool is_asked[PPI_LIMIT_DEMANDS];
  row rows[PPI_LIMIT_DEMANDS];
  size_t num_rows;
} whatif;

static bool is_on_device(const ppi_limit *limit, size_t demand) {
  return limit->servers[limit->demands[demand].server].kind ==
         PPI_SERVER_DEVICE;
}

// ---- --scale ----

// Matches "host:NAME", "device:NAME" or "NAME", which means the device's side
// if the name has one.
static bool fits(const ppi_limit *limit, size_t demand, const char *pattern) {
  static const char host[] = "host:", device[] = "device:";
  const char *name = limit->demands[demand].name;
  bool on_device = is_on_device(limit, demand);
  if (strncmp(pattern, host, sizeof host - 1) == 0)
    return !on_device && ppi_glob_match(pattern + sizeof host - 1, name);
  if (strncmp(pattern, device, sizeof device - 1) == 0)
    return on_device && ppi_glob_match(pattern + sizeof device - 1, name);
  if (!ppi_glob_match(pattern, name)) return false;
  for (size_t i = 0; i < limit->num_demands && !on_device; i++)
    if (is_on_device(limit, i) && strcmp(limit->demands[i].name, name) == 0)
      return false;
  return true;
}

static int refuse_stage(const ppi_limit *limit, const char *name) {
  struct ppi_tool_candidate candidate = {.wrong = name,
                                         .wrong_len = strlen(name)};
  for (size_t i = 0; i < limit->num_demands; i++)
    ppi_tool_candidate_offer(&candidate, limit->demands[i].name,
                             strlen(limit->demands[i].name));
  return ppi_tool_refuse(&candidate, "", "",
                         "'--scale': no stage is called '%s'", name);
}

// `text` is "STAGE=FACTOR", `len` long.
static int take_scale(whatif *all, const char *text, size_t len) {
  char name[MOST_NAME], *end = NULL;
  size_t at = len, found = 0;
  while (at && text[at - 1] != '=') at--;
  double factor = at ? strtod(text + at, &end) : -1;
  if (at < 2 || at > sizeof name || end != text + len || text + at == end ||
      !isfinite(factor) || factor < 0)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'--scale %.*s' is no STAGE=FACTOR such as detect=0.5",
                         (int)len, text);
  memcpy(name, text, at - 1);
  name[at - 1] = '\0';
  for (size_t i = 0; i < all->limit->num_demands; i++) {
    if (!fits(all->limit, i, name)) continue;
    all->factors[i] = factor;
    all->is_asked[i] = true;
    found++;
  }
  return found ? PPI_EXIT_DONE : refuse_stage(all->limit, name);
}

static int take_scales(whatif *all) {
  const struct ppi_tool_list *list = &all->options->whatif.scales;
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < list->num && code == PPI_EXIT_DONE; i++)
    for (const char *at = list->items[i]; code == PPI_EXIT_DONE;) {
      size_t len = strcspn(at, ",");
      code = take_scale(all, at, len);
      if (!at[len]) break;
      at += len + 1;
    }
  return code;
}

// ---- rows ----

static void predict(whatif *all) {
  uint32_t next;
  double gain = ppi_limit_bound(all->limit, all->factors, &next);
  for (size_t i = 0; i < all->limit->num_demands; i++)
    if (all->is_asked[i])
      all->rows[all->num_rows++] = (row){i, all->factors[i], gain, next};
}

PPI_ORDER(by_gain, row, PPI_DOWN(gain) PPI_UP(demand))

// Ranks the stages by the gain of halving each on one side, at all servers.
static void rank(whatif *all) {
  const ppi_limit *limit = all->limit;
  long top = all->options->tables.top;
  for (size_t i = 0; i < limit->num_demands; i++) {
    row *to = &all->rows[all->num_rows++];
    *to = (row){.demand = i, .factor = 0.5};
    for (size_t k = 0; k < limit->num_demands; k++)
      if (strcmp(limit->demands[k].name, limit->demands[i].name) == 0 &&
          is_on_device(limit, k) == is_on_device(limit, i))
        all->factors[k] = to->factor;
    to->gain = ppi_limit_bound(limit, all->factors, &to->next);
    for (size_t k = 0; k < limit->num_demands; k++) all->factors[k] = 1;
  }
  qsort(all->rows, all->num_rows, sizeof *all->rows, by_gain);
  if (top > 0 && (size_t)top < all->num_rows) all->num_rows = (size_t)top;
}

static void put_row(const whatif *all, const row *of, ppi_view *view) {
  const ppi_limit_demand *demand = &all->limit->demands[of->demand];
  const ppi_limit_server *server = &all->limit->servers[demand->server];
  ppi_cell *cells = ppi_tool_row(view);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_notes(const whatif *all, ppi_page *notes) {
  if (!all->limit->num_servers) {
    ppi_page_text(notes,
                  "Fewer than five requests, steps or iterations say nothing: "
                  "record more of the run\n");
    return;
  }
  ppi_page_visible(notes, all->limit->sentence);
  ppi_page_text(notes, "\n");
  if (all->limit->claim == PPI_CLAIM_KEEPS_UP)
    ppi_page_text(
        notes, "Arrivals set the rate: gains are of what the run could do\n");
  ppi_page_text(
      notes,
      "Busy: the server's. Time: the stage's for each request, step or "
      "iteration.\n"
      "A gain is a bound: the rate rises by no more (docs/live.md).\n");
}

static int print(const whatif *all) {
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = all->options->raw};
  put_notes(all, &view.note);
  for (size_t i = 0; i < all->num_rows; i++) put_row(all, &all->rows[i], &view);
  ppi_tool_rows_all(&page, &view, all->options, "pprof.whatif/2");
  ppi_view_clear(&view);
  return ppi_tool_output_page(all->options, &page, PPI_EXIT_DONE);
}

static int answer(whatif *all) {
  for (size_t i = 0; i < PPI_LIMIT_DEMANDS; i++) all->factors[i] = 1;
  int code = all->limit->num_servers ? take_scales(all) : PPI_EXIT_DONE;
  if (code != PPI_EXIT_DONE) return code;
  if (all->options->whatif.scales.num)
    predict(all);
  else
    rank(all);
  return print(all);
}

int ppi_tool_whatif(const struct ppi_tool_options *options) {
  const ppi_report_details details = {
      .answer = true, .requests = true, .warmup = -1};
  whatif all = {.options = options};
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  pprof_report *report = ppi_tool_reports_read(options, &details, NULL, &code);
  if (!report) return code;
  all.limit = &ppi_report_figures(report)->limit;
  code = ppi_tool_worse(code, answer(&all));
  pprof_report_destroy(report);
  return code;
}
