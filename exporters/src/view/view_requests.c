// SPDX-License-Identifier: Apache-2.0
//
// Builds the Requests view: the end-to-end time of requests, the stages'
// shares, and the causes of the slowest requests.
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "report/figures/request_rows.h"
#include "view/view.h"

// A part of the requests' time, in a mean slow request and in a usual one.
typedef struct shares {
  double slow_ns, usual_ns;
} shares;

static double more(const shares *of) {
  return of->slow_ns - of->usual_ns;
}

// One line of the view: all requests, a stage of all runs, or the time outside
// of stages.
typedef struct line {
  const char *name, *category_name;
  bool on_device, is_whole;
  uint64_t calls;
  uint64_t wait_ns, hop_ns, critical_ns;
  uint64_t *times_ns;  // of each request that has the line
  size_t num_times, capacity;
  shares own, hop;  // hop: of the gap before it
} line;

typedef struct lines {
  line all;
  shares queue, contended, rest;  // rest: gaps before no stage
  line *stages;                   // by category, then name
  size_t num_stages, stages_capacity;
  size_t *first_of;  // by run: its first stage in `line_at`
  uint32_t *line_at;
  const ppi_figures *figures;
  size_t num_rows, num_cold;
  size_t slow_from, usual_from, usual_to;  // of requests by length
} lines;

typedef ppi_steady_request request;

static bool add_time(line *to, uint64_t time_ns) {
  return PPI_PUSH(to->times_ns, to->num_times, to->capacity, time_ns);
}

static int compare_line(const void *key, const void *item) {
  const ppi_request_stage *stage = key;
  const line *at = item;
  int order = strcmp(stage->category_name, at->category_name);
  return order ? order : strcmp(stage->name, at->name);
}

static line *line_of(lines *all, const ppi_request_stage *stage) {
  size_t at = ppi_first(stage, all->stages, all->num_stages,
                        sizeof *all->stages, compare_line);
  if (at < all->num_stages && compare_line(stage, &all->stages[at]) == 0)
    return &all->stages[at];
  if (!PPI_ROOM(all->stages, all->stages_capacity, all->num_stages + 1))
    return NULL;
  line *grown = all->stages + at;
  memmove(grown + 1, grown, (all->num_stages++ - at) * sizeof *grown);
  *grown = (line){.name = stage->name, .category_name = stage->category_name};
  return grown;
}

// Lists the lines of all stages of all runs.
static bool list_lines(lines *all) {
  const ppi_figures *figures = all->figures;
  size_t num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    for (size_t k = 0; k < run->num_stages; k++)
      if (!line_of(all, &run->stages[k])) return false;
    num += run->num_stages;
  }
  all->first_of =
      ppi_alloc((figures->num_request_runs + 1) * sizeof *all->first_of);
  all->line_at = ppi_alloc((num + 1) * sizeof *all->line_at);
  if (!all->first_of || !all->line_at) return false;
  num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    all->first_of[i] = num;
    for (size_t k = 0; k < run->num_stages; k++)
      all->line_at[num++] =
          (uint32_t)(line_of(all, &run->stages[k]) - all->stages);
  }
  return true;
}

static void drop_unused(lines *all) {
  size_t num = 0;
  for (size_t i = 0; i < all->num_stages; i++)
    if (all->stages[i].num_times) all->stages[num++] = all->stages[i];
  all->num_stages = num;
}

// ---- the slow ones against the usual ones ----

// The slowest hundredth, and the tenth around the median; at least one each.
static void choose_groups(lines *all) {
  size_t num = all->num_rows;
  all->slow_from = num - PPI_MAX(num / 100, 1u);
  size_t half = PPI_MAX(num / 20, 1u) / 2;
  all->usual_from = num / 2 - PPI_MIN(half, num / 2);
  all->usual_to = PPI_MIN(num / 2 + half + 1, num);
}

// Adds `time_ns` of the request `at`.
static void add_share(const lines *all, size_t at, shares *to,
                      uint64_t time_ns) {
  double part_ns = (double)time_ns;
  if (at >= all->slow_from)
    to->slow_ns += part_ns / (double)(all->num_rows - all->slow_from);
  if (at >= all->usual_from && at < all->usual_to)
    to->usual_ns += part_ns / (double)(all->usual_to - all->usual_from);
}

static bool take_cell(lines *all, size_t at, const request *from,
                      const ppi_request_cell *cell) {
  const ppi_request_stage *stage = &from->run->stages[cell->stage];
  line *to =
      &all->stages[all->line_at[all->first_of[from->run_index] + cell->stage]];
  if (!add_time(to, cell->time_ns)) return false;
  to->on_device |= stage->on_device;
  to->is_whole |= stage->is_whole;
  to->calls += cell->calls;
  to->wait_ns += cell->wait_ns;
  to->hop_ns += cell->hop_ns;
  to->critical_ns += cell->critical_ns;
  all->all.calls += cell->calls;
  all->all.critical_ns += cell->critical_ns;
  add_share(all, at, &to->own, cell->own_ns);
  add_share(all, at, &to->hop, cell->hop_ns);
  add_share(all, at, &all->contended, cell->contended_ns);
  return true;
}

static bool take_request(lines *all, size_t at, const request *from) {
  const ppi_request_row *row = from->row;
  if (!add_time(&all->all, row->length_ns)) return false;
  all->all.hop_ns += row->hop_ns;
  all->all.wait_ns += row->queue_ns;  // of stages it may overlap
  add_share(all, at, &all->all.own, row->length_ns);
  add_share(all, at, &all->queue, row->queue_ns);
  uint64_t rest_ns = row->hop_ns;
  for (size_t i = 0; i < row->num_cells; i++) {
    const ppi_request_cell *cell = &from->run->cells[row->first_cell + i];
    rest_ns -= cell->hop_ns;
    if (!take_cell(all, at, from, cell)) return false;
  }
  add_share(all, at, &all->rest, rest_ns);
  return true;
}

static bool gather(lines *all) {
  request *list;
  bool done = ppi_steady_requests(all->figures, &list, &all->num_rows,
                                  &all->num_cold) == PPROF_STATUS_OK;
  if (done && all->num_rows) choose_groups(all);
  done = done && list_lines(all);
  for (size_t i = 0; i < all->num_rows && done; i++)
    done = take_request(all, i, &list[i]);
  drop_unused(all);
  ppi_free(list);
  return done;
}

// ---- rows ----

static uint64_t total(const line *from) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < from->num_times; i++) sum_ns += from->times_ns[i];
  return sum_ns;
}

// The quantile of nearest rank.
static ppi_cell quantile(const line *from, unsigned percent) {
  uint64_t rank = ppi_cell_rank(from->num_times, percent);
  ppi_cell cell = ppi_cell_time(from->times_ns[rank - 1]);
  cell.at_max = rank == from->num_times;
  return cell;
}

static ppi_cell nanoseconds(double ns) {
  return (ppi_cell){.kind = PPI_CELL_TIME,
                    .value = (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5),
                    .divisor = 1};
}

static const char *flag_of(const lines *all, const line *from) {
  if (from->is_whole) return "the request itself";
  if (from->num_times == all->num_rows) return NULL;
  return 2 * from->num_times >= all->num_rows ? "missing markers?"
                                              : "in some requests";
}

// The tail is the line's part in the extra time of the slow requests. Little's
// law for one stage: its mean occupancy L is the rate of requests times the
// time in it. If some requests lack its markers, L is smaller by their share.
// clang-format off
#define TAIL(each) \
  each(tail, "ns", "Tail / Ratio(%)", 20, 0, as(nanoseconds(more_ns))) \
  each(tail_ratio, "%", "", 0, 8, \
       if (whole_ns >= 1, ppi_cell_ratio((int64_t)more_ns, (uint64_t)whole_ns)))
#define LINE(each) \
  each(name, NULL, "Name", 15, 1, text(from->name)) \
  each(category, NULL, NULL, 0, 0, \
       if (is_stage, ppi_cell_text(from->category_name))) \
  each(timed, NULL, "Timed", 6, 2, \
       if (is_stage, ppi_cell_text(from->on_device ? "device" : "host"))) \
  each(requests, NULL, "Requests", 8, 3, count(from->num_times)) \
  each(calls, NULL, "Calls", 5, 0, count(from->calls)) \
  each(avg, "ns", "Avg / P50 / P90 / P99 / Max", 36, 4, \
       mean(total(from), from->num_times)) \
  each(p50, "ns", "", 0, 0, as(quantile(from, 50))) \
  each(p90, "ns", "", 0, 0, as(quantile(from, 90))) \
  each(p99, "ns", "", 0, 5, as(quantile(from, 99))) \
  each(max, "ns", "", 0, 0, time(from->times_ns[from->num_times - 1])) \
  each(queue_avg, "ns", "Queue Avg", 17, 6, \
       if (!is_stage || from->on_device, \
           ppi_cell_mean(from->wait_ns, from->num_times))) \
  each(hop_avg, "ns", "Hop Avg", 15, 0, mean(from->hop_ns, from->num_times)) \
  each(critical_avg, "ns", "Critical Avg / Ratio(%)", 23, 0, \
       mean(from->critical_ns, all->num_rows)) \
  each(critical_ratio, "%", "", 0, 7, \
       if (is_stage, ppi_cell_ratio((int64_t)from->critical_ns, \
                                    total(&all->all)))) \
  TAIL(each) \
  each(little, "%", "L / rate x W (%)", 10, 0, \
       if (is_stage, ppi_cell_ratio((int64_t)from->num_times, all->num_rows))) \
  each(flag, NULL, "Flag", 4, 0, if (flag, ppi_cell_text(flag)))
// clang-format on
PPI_VIEW_TABLE(requests, LINE);
PPI_VIEW_CELLS(LINE);

// All lines of requests, or a stage's.
static void add_line(ppi_view *view, const lines *all, const line *from) {
  bool is_stage = from != &all->all;
  const char *flag = is_stage ? flag_of(all, from) : NULL;
  double more_ns = more(&from->own), whole_ns = more(&all->all.own);
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  ppi_sort_numbers(from->times_ns, from->num_times);
  PPI_VIEW_PUT(LINE, cells);
}

static void add_rest(ppi_view *view, const lines *all, const char *name,
                     double more_ns) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  cells[CELL_name] = ppi_cell_text(name);
  double whole_ns = more(&all->all.own);
  PPI_VIEW_PUT(TAIL, cells + CELL_tail);
}

// Gaps below a thousandth of the total are merged.
static void add_hops(ppi_view *view, lines *all) {
  uint64_t least_ns = total(&all->all) / 1000;
  for (size_t i = 0; i < all->num_stages; i++) {
    const line *stage = &all->stages[i];
    double more_ns = more(&stage->hop);
    if (stage->hop_ns > least_ns)
      add_rest(view, all, ppi_view_text(view, "(before %s)", stage->name),
               more_ns);
    else
      all->rest.slow_ns += more_ns;
  }
}

static int compare_totals(const void *left, const void *right) {
  const line *a = left, *b = right;
  uint64_t x = total(a), y = total(b);
  if (x != y) return x > y ? -1 : 1;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->category_name, b->category_name);
}

static void add_rows(ppi_view *view, lines *all,
                     const ppi_report_options *options) {
  if (all->num_stages > 1)
    qsort(all->stages, all->num_stages, sizeof *all->stages, compare_totals);
  add_line(view, all, &all->all);
  size_t num = all->num_stages;
  if (options->top > 0) num = PPI_MIN(num, (size_t)options->top);
  for (size_t i = 0; i < num; i++) add_line(view, all, &all->stages[i]);
  add_hops(view, all);
  add_rest(view, all, "(contention)", more(&all->contended));
  add_rest(view, all, "(queue)", more(&all->queue));
  add_rest(view, all, "(in no stage)", more(&all->rest));
}

// ---- notes ----

static void note_left_out(ppi_view *view, const lines *all) {
  const ppi_figures *figures = all->figures;
  uint64_t cut = 0, crossing = 0, many = 0, reused = 0, others = 0;
  unsigned thinning = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    cut += run->num_cut;
    crossing += run->num_crossing;
    many += run->num_long;
    reused += run->num_reused;
    others += run->others_unknown;
    thinning = PPI_MAX(thinning, run->thinning);
  }
  ppi_page_format(&view->note,
                  "Left out: %llu requests cut or never ended, %llu in several "
                  "windows, %llu of too many ranges. Numbers used\n"
                  "again: %llu, kept separate.",
                  (unsigned long long)cut, (unsigned long long)crossing,
                  (unsigned long long)many, (unsigned long long)reused);
  if (figures->details.warmup > 0)
    ppi_page_format(&view->note,
                    " The first %ld of each run are left out, too.",
                    figures->details.warmup);
  else if (all->num_cold)
    ppi_page_format(&view->note, " Cold, as found, and left out: %zu.",
                    all->num_cold);
  if (thinning)
    ppi_page_format(&view->note, " Counted: one request in %llu.",
                    1ull << thinning);
  if (others)
    ppi_page_text(&view->note,
                  " Contention with device ranges of no request is not known.");
  ppi_page_text(&view->note, "\n");
}

static void put_note(ppi_view *view, const lines *all) {
  ppi_page_text(
      &view->note,
      "A request is all ranges of one flow, from the first begin to the last "
      "end. Times are a stage's in one request.\n"
      "Queue: from a device range's submission to its start. Hop: nothing went "
      "on before the stage began. Critical:\n"
      "on the longest chain of ranges that follow each other.\n");
  ppi_page_format(
      &view->note,
      "Tail: what the stage adds to the slowest requests (%llu, from p99 on) "
      "over those around the\n"
      "median (%llu). Every moment of a request counts once. The first of "
      "these takes it: a device's work,\n"
      "waiting for a device, the latest on the host, nothing. Contention: the "
      "device served others, too.\n"
      "A range that is the request itself is none of these.\n"
      "L / rate x W: Little's law, requests in a stage = rate x time. Below "
      "100 %%, some requests have no marker of the stage.\n",
      (unsigned long long)(all->num_rows - all->slow_from),
      (unsigned long long)(all->usual_to - all->usual_from));
  note_left_out(view, all);
}

static void clear_lines(lines *all) {
  for (size_t i = 0; i < all->num_stages; i++)
    ppi_free(all->stages[i].times_ns);
  PPI_FREE_ALL(all->stages, all->all.times_ns, all->first_of, all->line_at);
}

static void build_requests(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  if (!figures->details.requests) {
    out->reason = "the report was not asked to collect it before its run";
    return;
  }
  lines all = {.all.name = "(request)", .figures = figures};
  out->note.failed |= !gather(&all);
  if (!out->note.failed && all.num_rows) add_rows(out, &all, options);
  if (all.num_rows)
    put_note(out, &all);
  else
    note_left_out(out, &all);
  if (!all.num_rows)
    out->reason = all.num_cold ? "no whole request, or none after the warm-up"
                               : "no whole request: see pprof_flow";
  clear_lines(&all);
}

PPI_VIEW(requests, "Requests Summary", .has_quantiles = true,
         .named_only = true, .build = build_requests);
