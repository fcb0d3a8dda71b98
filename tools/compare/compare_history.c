// SPDX-License-Identifier: Apache-2.0
//
// Finds the changes of a program's stages, and prints them as a table and as
// SVG.
#include "compare/compare_history.h"

#include <math.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_text.h"

// ---- changes, by binary segmentation (Scott and Knott, 1974) ----

// Splits the runs where both sides differ most, by Student's test with the
// union bound over all places and stages. Then it splits each side. The runs of
// one point may share what the machine did then, so the points must show the
// change, too.

// Two runs make no level: one of them may be an outlier. So may one point.
enum { LEAST_RUNS = 3, LEAST_POINTS = 2 };
// Of a year's looks each has its share of the error. Student's test is not
// right so far out where runs have outliers: three in a row come once in some
// years, most of five do not.
#define SURE (PPI_COMPARE_ALPHA / PPI_LOOKS_A_YEAR)
enum { LEAST_SURE_RUNS = 5 };

// Figures of one level, by Welford's method.
typedef struct level {
  size_t num;
  double mean, squares;
} level;

typedef struct search {
  const ppi_past_run *runs;
  double tests;  // over which the error is shared
  double error;
  size_t least_runs;
  ppi_change *changes;
  size_t num;
  double *scratch;  // room for all runs
  level *from;      // of the runs from each place on
} search;

typedef struct split {
  size_t at;
  double t, before, after;
} split;

static void add_to(level *to, double figure) {
  double off = figure - to->mean;
  to->mean += off / (double)++to->num;
  to->squares += off * (figure - to->mean);
}

// Student's t of the difference of two levels. Clocks count whole ns, so equal
// figures have an error of 1e-6, not 0.
static double t_of(const level *left, const level *right) {
  double n = (double)left->num, m = (double)right->num;
  double variance = (left->squares + right->squares) / (n + m - 2) + 1e-12;
  return fabs(right->mean - left->mean) / sqrt(variance * (1 / n + 1 / m));
}

static double median_of(const ppi_past_run *runs, size_t num, double *scratch) {
  for (size_t i = 0; i < num; i++) scratch[i] = runs[i].figure;
  return ppi_median_of(scratch, num);
}

// Points of one level, each with the median of its runs.
static level level_of_points(const search *all, const ppi_past_run *runs,
                             size_t num) {
  level out = {.num = 0};
  for (size_t begin = 0, end; begin < num; begin = end) {
    for (end = begin; end < num && runs[end].point == runs[begin].point;) end++;
    add_to(&out, median_of(runs + begin, end - begin, all->scratch));
  }
  return out;
}

// How likely points differ so by chance.
static double chance_of_points(const search *all, const ppi_past_run *runs,
                               size_t num, const split *best, double part) {
  const level left = level_of_points(all, runs, best->at);
  const level right = level_of_points(all, runs + best->at, num - best->at);
  return 2 * ppi_student_tail(part * t_of(&left, &right),
                              (double)(left.num + right.num) - 2);
}

// A few outliers move a mean but no median. If the median moved less, t shrinks
// by this share.
static double share_of(const search *all, const ppi_past_run *runs, size_t num,
                       const split *best) {
  double before = median_of(runs, best->at, all->scratch);
  double after = median_of(runs + best->at, num - best->at, all->scratch);
  double part = (after - before) / (best->after - best->before);
  return PPI_MIN(PPI_MAX(part, 0.0), 1.0);
}

static size_t num_points(const ppi_past_run *runs, size_t num) {
  size_t points = num > 0;
  for (size_t i = 1; i < num; i++) points += runs[i].point != runs[i - 1].point;
  return points;
}

static split best_split(const search *all, const ppi_past_run *runs,
                        size_t num) {
  size_t points = num_points(runs, num), passed = 0;
  level left = {.num = 0};
  split best = {.at = 0};
  all->from[num] = left;
  for (size_t at = num; at-- > 0;) {
    all->from[at] = all->from[at + 1];
    add_to(&all->from[at], runs[at].figure);
  }
  for (size_t at = 1; at + all->least_runs <= num; at++) {
    const level *right = &all->from[at];
    add_to(&left, runs[at - 1].figure);
    if (runs[at].point == runs[at - 1].point) continue;
    passed++;
    if (PPI_MIN(passed, points - passed) < LEAST_POINTS || at < all->least_runs)
      continue;
    double t = t_of(&left, right);
    if (t > best.t) best = (split){at, t, left.mean, right->mean};
  }
  return best;
}

static void look(search *all, size_t begin, size_t end) {
  const ppi_past_run *runs = all->runs + begin;
  size_t num = end - begin;
  split best = best_split(all, runs, num);
  if (best.at == 0 || all->num == PPI_MOST_CHANGES) return;
  double part = share_of(all, runs, num, &best);
  double of_runs = 2 * ppi_student_tail(part * best.t, (double)num - 2);
  double of_points = chance_of_points(all, runs, num, &best, part);
  double p = all->tests * PPI_MAX(of_runs, of_points);
  if (p >= all->error) return;
  look(all, begin, begin + best.at);
  if (all->num < PPI_MOST_CHANGES)
    all->changes[all->num++] =
        (ppi_change){runs[best.at].point, best.before, best.after, p};
  look(all, begin + best.at, end);
}

// The level of the runs between two changes.
static double level_of(const search *all, size_t num, size_t from, size_t to) {
  double sum = 0, n = 0;
  for (size_t i = 0; i < num; i++) {
    if (all->runs[i].point < from || all->runs[i].point >= to) continue;
    sum += all->runs[i].figure;
    n++;
  }
  return sum / n;
}

static size_t find(const ppi_past_run *runs, size_t num, size_t num_stages,
                   double error, size_t least_runs,
                   ppi_change out[PPI_MOST_CHANGES]) {
  search all = {.runs = runs,
                .error = error,
                .least_runs = least_runs,
                .changes = out,
                .scratch = ppi_tool_must(ppi_alloc((num + 1) * sizeof(double))),
                .from = ppi_tool_must(ppi_alloc((num + 1) * sizeof(level)))};
  all.tests = ((double)num_points(runs, num) - 1) * (double)num_stages;
  look(&all, 0, num);
  ppi_free(all.scratch);
  ppi_free(all.from);
  for (size_t i = 0; i < all.num; i++) {
    size_t from = i ? out[i - 1].point : 0;
    size_t to = i + 1 < all.num ? out[i + 1].point : SIZE_MAX;
    out[i].before = level_of(&all, num, from, out[i].point);
    out[i].after = level_of(&all, num, out[i].point, to);
  }
  return all.num;
}

size_t ppi_changes_find(const ppi_past_run *runs, size_t num, size_t num_stages,
                        ppi_change out[PPI_MOST_CHANGES]) {
  return find(runs, num, num_stages, PPI_COMPARE_ALPHA, LEAST_RUNS, out);
}

static size_t find_sure(const ppi_past_run *runs, size_t num, size_t num_stages,
                        ppi_change out[PPI_MOST_CHANGES]) {
  return find(runs, num, num_stages, SURE, LEAST_SURE_RUNS, out);
}

// A change may move by a point or two as runs are added.
static bool was_found(size_t point, const ppi_change *among, size_t num) {
  for (size_t i = 0; i < num; i++)
    if (among[i].point + 2 >= point && among[i].point <= point + 2) return true;
  return false;
}

// The first `num` of the runs without those of the last point.
static size_t without_last(const ppi_past_run *runs, size_t num) {
  size_t left = num;
  while (left && runs[left - 1].point == runs[num - 1].point) left--;
  return left;
}

// A change that was sure and is so again is not new.
static bool was_sure(const ppi_past_run *runs, size_t num, size_t num_stages,
                     size_t point) {
  ppi_change before[PPI_MOST_CHANGES];
  while ((num = without_last(runs, num)) && runs[num - 1].point >= point) {
    size_t found = find_sure(runs, num, num_stages, before);
    if (was_found(point, before, found)) return true;
  }
  return false;
}

void ppi_changes_mark(const ppi_past_run *runs, size_t num, size_t num_stages,
                      const ppi_change *changes, size_t num_changes,
                      bool *out_is_new) {
  ppi_change sure[PPI_MOST_CHANGES];
  size_t num_sure = find_sure(runs, num, num_stages, sure);
  for (size_t i = 0; i < num_changes; i++) {
    size_t point = changes[i].point;
    out_is_new[i] = was_found(point, sure, num_sure) &&
                    !was_sure(runs, num, num_stages, point);
  }
}

// ---- the table ----

static const char *verdict_of(const ppi_change *change, bool is_new) {
  bool is_slower = change->after > change->before;
  if (is_new) return is_slower ? "new, slower" : "new, faster";
  return is_slower ? "slower" : "faster";
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 10, 1, text(own->stage->name)) \
  each(category, NULL, NULL, 0, 0, text(own->stage->category)) \
  each(side, NULL, "Side", 6, 2, text(ppi_compare_side(own->stage))) \
  each(metric, NULL, "Metric", 6, 0, text(ppi_metric_name(history->metric))) \
  each(runs, NULL, "Runs", 4, 0, count(own->num_runs)) \
  each(since, NULL, "Since", 10, 3, \
       if (change, ppi_cell_text(history->points[change->point]))) \
  each(before, "ns", "Before / after", 14, 4, \
       if (change, ppi_cell_time((uint64_t)llround(exp(change->before))))) \
  each(after, "ns", "", 0, 5, \
       if (change, ppi_cell_time((uint64_t)llround(exp(change->after))))) \
  each(change, "%", "Change(%)", 9, 6, \
       if (change, \
           ppi_cell_decimal(100 * expm1(change->after - change->before)))) \
  each(p, NULL, NULL, 0, 0, if (change, ppi_cell_decimal(change->p))) \
  each(verdict, NULL, "Verdict", 9, 7, \
       text(change ? verdict_of(change, own->is_new[change - own->changes]) \
                   : "same"))
// clang-format on
PPI_VIEW_TABLE(history, COLUMNS);
static const ppi_view_kind kind = {PPI_VIEW_OF(history, "history", "History")};

static void add_row(const ppi_history *history, const ppi_history_stage *own,
                    const ppi_change *change, ppi_view *view) {
  ppi_cell *cells = ppi_tool_row(view);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void add_rows(const ppi_history *history, ppi_view *view) {
  for (size_t i = 0; i < history->num_stages; i++) {
    const ppi_history_stage *own = &history->stages[i];
    if (own->num_changes == 0) add_row(history, own, NULL, view);
    for (size_t k = 0; k < own->num_changes; k++)
      add_row(history, own, &own->changes[k], view);
  }
}

int ppi_history_print(const ppi_history *history, int code) {
  const struct ppi_tool_options *options = history->options;
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = options->raw};
  add_rows(history, &view);
  ppi_tool_put(&view.note, "%zu points, from %s to %s\n", history->num_points,
               history->points[0], history->points[history->num_points - 1]);
  ppi_page_text(&view.note,
                "Where nothing changed at most 5 % of pasts show a change in "
                "any stage. Looked at\neach night, at most 5 % of years have "
                "one that is new. A level has three runs of\ntwo points or "
                "more\n");
  ppi_tool_rows_all(&page, &view, options, "pprof.history/1");
  ppi_view_clear(&view);
  return ppi_tool_output_page(options, &page, code);
}

// ---- SVG ----

enum { WIDTH = 720, HEIGHT = 150, LEFT = 70, RIGHT = 10, TOP = 12, BELOW = 24 };

typedef struct scale {
  size_t num_points;
  double least, most;  // ms
} scale;

static double ms_of(double figure) {
  return exp(figure) / 1e6;
}

static double x_of(const scale *plot, size_t point) {
  double wide = plot->num_points > 1 ? (double)(plot->num_points - 1) : 1;
  return LEFT + (double)point / wide * (WIDTH - LEFT - RIGHT);
}

static double y_of(const scale *plot, double ms) {
  double part = (ms - plot->least) / (plot->most - plot->least);
  return HEIGHT - BELOW - part * (HEIGHT - TOP - BELOW);
}

static scale scale_of(const ppi_history *history,
                      const ppi_history_stage *own) {
  scale plot = {history->num_points, INFINITY, 0};
  for (size_t i = 0; i < own->num_runs; i++) {
    plot.least = PPI_MIN(plot.least, ms_of(own->runs[i].figure));
    plot.most = PPI_MAX(plot.most, ms_of(own->runs[i].figure));
  }
  double room = PPI_MAX((plot.most - plot.least) / 10, plot.most / 100);
  plot.least = PPI_MAX(plot.least - room, 0.0);
  plot.most += room + 1e-9;
  return plot;
}

static void put_axis(const scale *plot, ppi_page *page) {
  ppi_page_format(page,
                  "<path d=\"M%d %d V%d H%d\" fill=\"none\" "
                  "stroke=\"#555\"/>\n",
                  LEFT, TOP, HEIGHT - BELOW, WIDTH - RIGHT);
  for (int i = 0; i <= 2; i++) {
    double ms = plot->least + (plot->most - plot->least) * i / 2;
    ppi_page_format(page, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">",
                    LEFT - 6, y_of(plot, ms) + 4);
    ppi_page_short(page, round(ms * 1000) / 1000);
    ppi_page_text(page, "</text>\n");
  }
}

static void put_runs(const ppi_history *history, const ppi_history_stage *own,
                     const scale *plot, ppi_page *page) {
  for (size_t i = 0; i < own->num_runs; i++) {
    const ppi_past_run *run = &own->runs[i];
    double ms = ms_of(run->figure);
    ppi_page_format(page,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#1b6ca8\" "
                    "fill-opacity=\"0.6\"><title>",
                    x_of(plot, run->point), y_of(plot, ms));
    ppi_compare_put_html(page, history->points[run->point]);
    ppi_page_format(page, ": %.3f ms</title></circle>\n", ms);
  }
}

static void put_level(const scale *plot, double figure, size_t from, size_t to,
                      ppi_page *page) {
  double y = y_of(plot, ms_of(figure));
  ppi_page_format(page,
                  "<path d=\"M%.1f %.1f H%.1f\" stroke=\"#333\" "
                  "stroke-width=\"2\"/>\n",
                  x_of(plot, from), y, x_of(plot, to));
}

static void put_changes(const ppi_history *history,
                        const ppi_history_stage *own, const scale *plot,
                        ppi_page *page) {
  for (size_t i = 0; i < own->num_changes; i++) {
    const ppi_change *change = &own->changes[i];
    bool is_last = i + 1 == own->num_changes;
    size_t from = i ? own->changes[i - 1].point : 0;
    size_t to =
        is_last ? history->num_points - 1 : own->changes[i + 1].point - 1;
    const char *color = change->after > change->before ? "#b00020" : "#1b7a3d";
    double x = x_of(plot, change->point);
    if (i == 0) put_level(plot, change->before, from, change->point - 1, page);
    put_level(plot, change->after, change->point, to, page);
    ppi_page_format(page,
                    "<path d=\"M%.1f %d V%d\" stroke=\"%s\" "
                    "stroke-dasharray=\"4 3\"/><text x=\"%.1f\" y=\"%d\" "
                    "fill=\"%s\" text-anchor=\"middle\">",
                    x, TOP, HEIGHT - BELOW, color, x, HEIGHT - 8, color);
    ppi_compare_put_html(page, history->points[change->point]);
    ppi_page_format(page, " %+.1f %%</text>\n",
                    100 * expm1(change->after - change->before));
  }
}

static void put_stage(const ppi_history *history, const ppi_history_stage *own,
                      ppi_page *page) {
  const scale plot = scale_of(history, own);
  ppi_page_text(page, "<h2>");
  ppi_compare_put_html(page, own->stage->name);
  ppi_page_format(page, " <small>%s, %s, ms</small></h2>\n",
                  ppi_compare_side(own->stage),
                  ppi_metric_name(history->metric));
  ppi_page_format(page,
                  "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" "
                  "aria-label=\"%zu runs, %zu changes\">\n",
                  WIDTH, HEIGHT, WIDTH, own->num_runs, own->num_changes);
  put_axis(&plot, page);
  put_runs(history, own, &plot, page);
  put_changes(history, own, &plot, page);
  ppi_page_text(page, "</svg>\n");
}

void ppi_history_plot(const ppi_history *history, ppi_page *page) {
  ppi_page_text(
      page,
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
      "<title>History</title>\n"
      "<style>body{font:14px sans-serif;margin:2em}svg{font-size:12px}"
      "h2{font-size:1em;margin:1.5em 0 0}small{font-weight:normal}</style>\n"
      "<h1>History</h1>\n<p>From ");
  ppi_compare_put_html(page, history->points[0]);
  ppi_page_text(page, " to ");
  ppi_compare_put_html(page, history->points[history->num_points - 1]);
  ppi_page_text(page, ". A dot is a run, a line a level.</p>\n");
  for (int changed = 1; changed >= 0; changed--)
    for (size_t i = 0; i < history->num_stages; i++)
      if ((history->stages[i].num_changes > 0) == changed)
        put_stage(history, &history->stages[i], page);
  ppi_page_text(page, "</html>\n");
}
