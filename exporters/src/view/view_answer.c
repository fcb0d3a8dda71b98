// SPDX-License-Identifier: Apache-2.0
//
// Builds the answer: where the time of requests goes, or else of steps, or else
// of the run. Every moment counts once, so the rows add up to the total.
#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/sum.h"
#include "report/findings/impossible.h"
#include "report/findings/words.h"
#include "view/answer_line.h"
#include "view/answer_text.h"

PPI_VIEW_TABLE(answer, PPI_ANSWER_COLUMNS);
PPI_VIEW_CELLS(PPI_ANSWER_COLUMNS);

// ---- threads ----

typedef struct ppi_thread {
  // "thread worker", with host and process if there are several, and its number
  // if the name is not unique. "thread 4711" without a name.
  char name[120];
  uint64_t number;
  ppi_answer answer;
} ppi_thread;

typedef struct ppi_threads {
  ppi_thread *items;
  size_t num;
} ppi_threads;

static uint64_t wall_of(const ppi_figures *figures, const char *process) {
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    size_t len = strlen(input->host);
    if (strncmp(process, input->host, len) == 0 && process[len] == ' ' &&
        strcmp(process + len + 1, input->pid) == 0)
      return input->wall_ns;
  }
  return 0;
}

static bool are_of_one(const ppi_report_thread_name *a,
                       const ppi_report_thread_name *b) {
  return a->thread == b->thread && strcmp(a->process, b->process) == 0;
}

static void name_thread(const ppi_figures *figures,
                        const ppi_report_thread_name *from, ppi_thread *to) {
  const char *of = figures->num_inputs > 1 ? " of " : "";
  const char *process = *of ? from->process + strspn(from->process, " ") : "";
  const char *thread = strncmp(from->called, "thread ", 7) ? "thread " : "";
  if (from->thread == PPI_REPORT_LEFT_THREADS)
    snprintf(to->name, sizeof to->name, "threads that left%s%.40s", of,
             process);
  else if (*from->called)
    snprintf(to->name, sizeof to->name, "%s%s%s%.40s", thread,
             ppi_words_name(from->called).text, of, process);
  else
    snprintf(to->name, sizeof to->name, "thread %llu%s%.40s",
             (unsigned long long)from->thread, of, process);
  to->number = from->thread;
}

PPI_ORDER_OF_POINTERS(compare_names, ppi_thread, PPI_BY_TEXT(name))

// Threads with equal names also get their numbers.
static pprof_status number_alike(ppi_threads *threads) {
  ppi_thread **sorted = ppi_alloc((threads->num + 1) * sizeof *sorted);
  bool is_alike = false;
  if (!sorted) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < threads->num; i++) sorted[i] = &threads->items[i];
  if (threads->num > 1)
    qsort(sorted, threads->num, sizeof *sorted, compare_names);
  for (size_t i = 0; i < threads->num; i++) {
    bool was_alike = is_alike;
    is_alike = i + 1 < threads->num &&
               strcmp(sorted[i]->name, sorted[i + 1]->name) == 0;
    size_t len = strlen(sorted[i]->name);
    if (is_alike || was_alike)
      snprintf(sorted[i]->name + len, sizeof sorted[i]->name - len, " (%llu)",
               (unsigned long long)sorted[i]->number);
  }
  ppi_free(sorted);
  return PPROF_STATUS_OK;
}

static pprof_status add_thread_row(ppi_answer *to, const ppi_answer_row *key,
                                   uint64_t ns, uint64_t calls) {
  ppi_answer_row *row = ppi_answer_row_of(to, key);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  row->total_ns += ns;
  row->max_ns = row->total_ns;
  row->calls += calls;
  row->num_units = 1;
  to->total_ns += ns;
  return PPROF_STATUS_OK;
}

static pprof_status add_stage(ppi_answer *to,
                              const ppi_report_thread_name *from) {
  const ppi_answer_row key = {.name = from->name,
                              .child = (char[]){""},
                              .device = (char[]){""},
                              .where = PPI_WHERE_HOST};
  // Steps are of the process, not of a thread.
  bool is_stage = from->host.n && from->category != PPROF_CATEGORY_PROFILE_STEP;
  return is_stage ? add_thread_row(to, &key, from->self_ns, from->host.n)
                  : PPROF_STATUS_OK;
}

static pprof_status add_rest(ppi_answer *to, uint64_t wall_ns) {
  const ppi_answer_row key = {.name = (char[]){""},
                              .child = (char[]){""},
                              .device = (char[]){""},
                              .where = PPI_WHERE_BETWEEN};
  uint64_t rest_ns = wall_ns - PPI_MIN(to->total_ns, wall_ns);
  to->num_units = 1;
  return add_thread_row(to, &key, rest_ns, 0);
}

// Gives each thread's stages by self time, and the rest of its process's
// windows. Cross-thread ranges count for no thread. `figures` must have
// details.by_thread.
static pprof_status threads_of(const ppi_figures *figures, ppi_threads *out) {
  pprof_status status = PPROF_STATUS_OK;
  *out = (ppi_threads){
      .items = ppi_alloc((figures->num_threads + 1) * sizeof *out->items)};
  if (!out->items) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < figures->num_threads && status == PPROF_STATUS_OK;
       i++) {
    const ppi_report_thread_name *from = &figures->threads[i];
    bool is_last = i + 1 == figures->num_threads ||
                   !are_of_one(from, &figures->threads[i + 1]);
    ppi_thread *thread = &out->items[out->num];
    status = add_stage(&thread->answer, from);
    bool is_done = is_last && thread->answer.num_rows;
    if (!is_done || status != PPROF_STATUS_OK) continue;
    name_thread(figures, from, thread);
    status = add_rest(&thread->answer, wall_of(figures, from->process));
    ppi_answer_sort(&thread->answer);
    out->num++;
  }
  return status == PPROF_STATUS_OK ? number_alike(out) : status;
}

static void threads_clear(ppi_threads *threads) {
  // Includes the thread that could not be filled.
  for (size_t i = 0; threads->items && i <= threads->num; i++)
    ppi_answer_clear(&threads->items[i].answer);
  ppi_free(threads->items);
  *threads = (ppi_threads){.items = NULL};
}

// ---- all ----

// With fewer units, the maximum replaces P99.
#define FEW 100
// ---- rows ----

typedef struct ordered_row {
  const ppi_answer_row *row;
  uint64_t stage_ns;  // time of its stage, or its own
} ordered_row;

static int compare_rows(const void *left, const void *right) {
  const ordered_row *a = left, *b = right;
  if (a->stage_ns != b->stage_ns) return a->stage_ns > b->stage_ns ? -1 : 1;
  int order = strcmp(a->row->name, b->row->name);
  if (order == 0)
    order = (a->row->where > b->row->where) - (a->row->where < b->row->where);
  if (order == 0) order = strcmp(a->row->device, b->row->device);
  if (order != 0) return order;
  // The stage comes before its parts.
  if (!*a->row->child != !*b->row->child) return *a->row->child ? 1 : -1;
  if (a->row->total_ns != b->row->total_ns)
    return a->row->total_ns > b->row->total_ns ? -1 : 1;
  return strcmp(a->row->child, b->row->child);
}

static bool is_part_of(const ppi_answer_row *part,
                       const ppi_answer_row *stage) {
  return part->where == stage->where && strcmp(part->name, stage->name) == 0 &&
         strcmp(part->device, stage->device) == 0;
}

// The answer has its rows by name, where and device, each stage before its
// parts.
static ordered_row *order_rows(const ppi_answer *answer) {
  ordered_row *rows = ppi_alloc((answer->num_rows + 1) * sizeof *rows);
  const ppi_answer_row *stage = NULL;
  for (size_t i = 0; rows && i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    if (!*row->child) stage = row;
    bool has_stage = stage && is_part_of(row, stage);
    rows[i] = (ordered_row){row, has_stage ? stage->total_ns : row->total_ns};
  }
  if (rows && answer->num_rows > 1)
    qsort(rows, answer->num_rows, sizeof *rows, compare_rows);
  return rows;
}

static const char *name_of(ppi_view *view, const ppi_answer_row *row,
                           ppi_base_kind base) {
  // The texts before and behind the stage's name.
  static const char *const waits[PPI_NUM_WHERES][2] = {
      [PPI_WHERE_LINE] = {"in line for ", ""},
      [PPI_WHERE_HELD] = {"held up by ", ""},
      [PPI_WHERE_BATCH] = {"batch of ", " fills"},
      [PPI_WHERE_IDLE] = {"idle before ", ""},
      [PPI_WHERE_HAND_OVER] = {"hand-over", ""},
      [PPI_WHERE_PAUSED] = {"paused", ""}};
  if (row->where == PPI_WHERE_QUEUE)
    return ppi_view_text(view, "in line for %s", row->device);
  if (row->where == PPI_WHERE_BETWEEN)
    return base == PPI_BASE_WALL ? "outside of stages" : "between stages";
  const char *const *words = waits[row->where];
  if (words[0])
    return ppi_view_text(view, "%s%s%s", words[0], row->name, words[1]);
  return ppi_view_text(view, "%s", *row->child ? row->child : row->name);
}

// The answer that adds its rows, and the view that gets them.
typedef struct adding {
  ppi_view *view;
  const ppi_answer *answer;
  ppi_base_kind base;
  const char *of;          // of all if NULL
  const ppi_ranks *ranks;  // the ranks of its sum; NULL, or fewer than 2: none
  const ppi_figures *figures;  // NULL: of one thread or rank
} adding;

// Requests over hosts have their ways between stages.
static const char *way_of(const adding *to) {
  const ppi_figures *figures = to->figures;
  if (!figures || figures->host_clocks != PPI_CLOCKS_BOUND) return "";
  return ppi_view_text(to->view, "each way \u00b1%s",
                       ppi_words_time((double)figures->clock_bound_ns).text);
}

static const char *where_of(const adding *to, const ppi_answer_row *row) {
  switch (row->where) {
    case PPI_WHERE_DEVICE:
    case PPI_WHERE_QUEUE:
      return row->device;
    case PPI_WHERE_HOST:
      return "host";
    case PPI_WHERE_WAITING:
      return "waiting for others";
    case PPI_WHERE_BETWEEN:
      return way_of(to);
    case PPI_WHERE_LINE:
    case PPI_WHERE_HELD:
    case PPI_WHERE_BATCH:
    case PPI_WHERE_IDLE:
    case PPI_WHERE_HAND_OVER:
    case PPI_WHERE_PAUSED:
    case PPI_NUM_WHERES:
      break;
  }
  return "";
}

static int compare_times(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// An average unit's time in a row; `key` NULL: in all rows.
static double mean_in(const ppi_answer *answer, const ppi_answer_row *key) {
  const ppi_answer_row *row = key ? ppi_answer_row_find(answer, key) : NULL;
  uint64_t sum_ns = !key ? answer->total_ns : row ? row->total_ns : 0;
  return (double)sum_ns / (double)answer->num_units;
}

static void put_ranks(const adding *to, const ppi_answer_row *key,
                      ppi_cell *cells) {
  size_t num = to->ranks ? to->ranks->num : 0, longest = 0;
  if (num < 2) return;
  double *times = ppi_alloc(num * sizeof *times);
  to->view->note.failed |= !times;
  if (!times) return;
  for (size_t i = 0; i < num; i++) {
    times[i] = mean_in(to->ranks->items[i].answer, key);
    if (times[i] > times[longest]) longest = i;
  }
  qsort(times, num, sizeof *times, compare_times);
  cells[CELL_rank_min] = ppi_cell_time((uint64_t)(times[0] + 0.5));
  cells[CELL_rank_median] =
      ppi_cell_time((uint64_t)(times[(num - 1) / 2] + 0.5));
  cells[CELL_rank_max] = ppi_cell_time((uint64_t)(times[num - 1] + 0.5));
  cells[CELL_longest_rank] = ppi_cell_text(
      ppi_view_text(to->view, "%s", to->ranks->items[longest].name));
  ppi_free(times);
}

static ppi_cell quantile(const ppi_answer *answer, const ppi_answer_row *row,
                         unsigned percent) {
  return row ? ppi_cell_time(ppi_answer_quantile(answer, row, percent))
             : ppi_cell_quantile(&answer->times, percent);
}

// `row` NULL: the total.
static void add_row(const adding *to, const ppi_answer_row *row) {
  const ppi_answer *answer = to->answer;
  bool is_part = row && *row->child;
  const char *name = row ? name_of(to->view, row, to->base) : "total";
  const char *where = row ? where_of(to, row) : "";
  uint64_t total_ns = row ? row->total_ns : answer->total_ns;
  ppi_cell *cells = ppi_view_add_row(to->view, 0, is_part);
  put_ranks(to, row, cells);
  if (to->of) cells[CELL_of] = ppi_cell_text(to->of);
  cells[CELL_name] = ppi_cell_text(name);
  if (is_part) cells[CELL_inside] = ppi_cell_text(row->name);
  cells[CELL_where] = ppi_cell_text(where);
  cells[CELL_time_avg] = ppi_cell_mean(total_ns, answer->num_units);
  cells[CELL_share] = ppi_cell_ratio((int64_t)total_ns, answer->total_ns);
  cells[CELL_total] = ppi_cell_time(total_ns);
  cells[CELL_max] = ppi_cell_time(row ? row->max_ns : answer->max_ns);
  if (to->base != PPI_BASE_WALL) {
    cells[CELL_p50] = quantile(answer, row, 50);
    if (answer->num_units >= FEW) cells[CELL_p99] = quantile(answer, row, 99);
  }
  if (!row || !row->calls) return;
  cells[CELL_calls_avg] =
      ppi_cell_decimal((double)row->calls / (double)answer->num_units);
  cells[CELL_calls] = ppi_cell_count(row->calls);
}

static void add_answer(const adding *to) {
  size_t first = to->view->num_rows;
  ordered_row *rows = order_rows(to->answer);
  to->view->note.failed |= !rows;
  for (size_t i = 0; i < to->answer->num_rows && rows; i++)
    if (rows[i].row->total_ns || rows[i].row->calls) add_row(to, rows[i].row);
  ppi_free(rows);
  add_row(to, NULL);
  if (!to->view->note.failed) ppi_view_add_up(to->view, first, CELL_time_avg);
}

static void add_threads(const ppi_figures *figures, ppi_view *out) {
  ppi_threads threads;
  out->note.failed |= threads_of(figures, &threads) != PPROF_STATUS_OK;
  out->unit = "thread";
  for (size_t i = 0; i < threads.num && !out->note.failed; i++) {
    const ppi_thread *thread = &threads.items[i];
    adding to = {.view = out,
                 .answer = &thread->answer,
                 .base = PPI_BASE_WALL,
                 .of = ppi_view_text(out, "%s", thread->name)};
    add_answer(&to);
  }
  threads_clear(&threads);
}

static void add_ranks(const adding *all) {
  const ppi_ranks *ranks = all->ranks;
  for (size_t i = 0; i < ranks->num; i++) {
    adding to = {.view = all->view,
                 .answer = ranks->items[i].answer,
                 .base = all->base,
                 .of = ppi_view_text(all->view, "%s", ranks->items[i].name)};
    add_answer(&to);
  }
}

// Adds an answer for each kind of processes: those with stages in common.
static void add_kinds(const adding *all, const ppi_figures *figures) {
  for (uint32_t i = 0; i < figures->num_kinds && !all->view->note.failed; i++) {
    ppi_ranks ranks;
    all->view->note.failed |=
        ppi_ranks_of(figures, all->base, &ranks) != PPROF_STATUS_OK;
    if (all->view->note.failed) return;
    ppi_ranks_keep(&ranks, i);
    adding to = *all;
    to.ranks = &ranks;
    to.of = ppi_view_text(all->view, "%s", ppi_ranks_title(&ranks).text);
    if (i) to.answer = &figures->kinds[i];
    add_answer(&to);
    ppi_ranks_clear(&ranks);
  }
}

static void add_asked(const adding *to, const ppi_figures *figures,
                      ppi_report_by by) {
  if (by == PPI_BY_THREAD)
    add_threads(figures, to->view);
  else if (by == PPI_BY_RANK)
    add_ranks(to);
  else if (figures->num_kinds)
    add_kinds(to, figures);
  else
    add_answer(to);
}

static const char *missing(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  const ppi_impossible impossible = ppi_impossible_of(figures);
  ppi_base_kind base = ppi_figures_base(figures);
  const ppi_answer *answer = &figures->answers[base];
  bool is_import = ppi_figures_are_imported(figures);
  if ((!answer->num_units || !answer->total_ns) && is_import &&
      figures->totals[PPI_TOTAL_LOST])
    return "nothing could be used of what the trace has; the notes say why";
  if (!answer->num_units && figures->runs_unopened && !is_import)
    return "nothing was recorded: no window opened. `capture` in the "
           "configuration says when one does (docs/capture.md)";
  bool has_time = answer->num_units && answer->total_ns;
  if (!has_time && impossible.is_any && !impossible.hides_findings)
    return ppi_view_text(out, "no time was recorded. %s", impossible.text);
  if (!has_time) return "no time was recorded";
  if (options->by == PPI_BY_REQUEST && base != PPI_BASE_REQUEST)
    return "no requests were recorded: pprof_flow makes them";
  if (options->by == PPI_BY_STEP && base != PPI_BASE_STEP &&
      base != PPI_BASE_ITERATION)
    return "no steps were recorded: pprof_step makes them";
  return NULL;
}

static void build_answer(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  ppi_base_kind base = ppi_figures_base(figures);
  ppi_ranks ranks;
  out->reason = missing(figures, options, out);
  if (out->reason) return;
  out->note.failed |= ppi_ranks_of(figures, base, &ranks) != PPROF_STATUS_OK;
  const adding to = {.view = out,
                     .answer = &figures->answers[base],
                     .base = base,
                     .ranks = &ranks,
                     .figures = figures};
  out->unit = ppi_answer_unit(base);
  if (!out->note.failed) add_asked(&to, figures, options->by);
  if (!out->note.failed)
    out->note.failed |= ppi_answer_put_note(&out->note, figures, base,
                                            options) != PPROF_STATUS_OK;
  ppi_ranks_clear(&ranks);
}

// Of more than FEW_ROWS rows, those below LEAST_PERCENT are shown as one.
#define LEAST_PERCENT 1
#define FEW_ROWS 12

// ---- for people to read ----

static bool is_small(const ppi_view *view, size_t at) {
  double percent = 0;
  const ppi_cell *cells = ppi_view_cells(view, at);
  return ppi_cell_is_ratio(&cells[CELL_share], &percent) &&
         percent < LEAST_PERCENT;
}

// Writes one row in place of `num` small ones with `ns` in all.
static void put_small(ppi_view *view, size_t at, size_t total, size_t num,
                      uint64_t ns) {
  const ppi_cell *of = ppi_view_cells(view, total);
  const char *name = ppi_view_text(view, "%zu below %d %%", num, LEAST_PERCENT);
  ppi_cell cells[NUM_COLUMNS] = {
      [CELL_name] = ppi_cell_text(name),
      [CELL_where] = ppi_cell_text(""),
      [CELL_time_avg] = ppi_cell_mean(ns, of[CELL_time_avg].divisor),
      [CELL_share] =
          ppi_cell_ratio((int64_t)ns, (uint64_t)of[CELL_total].value),
      [CELL_of] = of[CELL_of]};
  view->rows[at] = (ppi_view_row){0};
  memcpy(ppi_view_cells(view, at), cells, sizeof cells);
}

// Moves the rows from `from` to `total` to `kept`, and merges small rows. The
// time of a small stage includes its parts.
static size_t fold_one(ppi_view *view, size_t from, size_t total, size_t kept) {
  uint64_t ns = 0;
  size_t num = 0;
  for (size_t i = from; i < total; i++) {
    if (!is_small(view, i)) {
      ppi_view_move_row(view, kept++, i);
    } else if (!view->rows[i].indent) {
      ns += (uint64_t)ppi_view_cells(view, i)[CELL_total].value;
      num++;
    }
  }
  if (num) put_small(view, kept++, total, num, ns);
  ppi_view_move_row(view, kept++, total);
  return kept;
}

static void fold(ppi_view *view, const ppi_report_options *options) {
  size_t kept = 0, total;
  bool shows_all = options->top == 0 || options->top == -1;
  for (size_t from = 0; from < view->num_rows; from = total + 1) {
    total = ppi_answer_total(view, from);
    bool is_short = total + 1 - from <= FEW_ROWS;
    if (!shows_all && !is_short) {
      kept = fold_one(view, from, total, kept);
      continue;
    }
    for (size_t i = from; i <= total; i++) ppi_view_move_row(view, kept++, i);
  }
  view->num_rows = kept;
}

PPI_VIEW(answer, "Answer", .named_only = true, .note_first = true,
         .build = build_answer, .fold = fold, .put_text = ppi_answer_put_text);
