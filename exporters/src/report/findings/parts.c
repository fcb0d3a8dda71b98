// SPDX-License-Identifier: Apache-2.0
//
// Reads shares of stages and devices from the additive table.
#include "report/findings/parts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/path_rows.h"
#include "report/figures/request_rows.h"
#include "report/figures/rows.h"

bool ppi_part_has(const ppi_part *part, const ppi_answer_row *row) {
  if (*row->child || !(part->wheres & 1u << row->where)) return false;
  if (part->name && strcmp(part->name, row->name) != 0) return false;
  return !part->device || strcmp(part->device, row->device) == 0;
}

uint64_t ppi_part_sum(const ppi_answer *answer, const ppi_part *part) {
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < answer->num_rows; i++)
    if (ppi_part_has(part, &answer->rows[i]))
      sum_ns += answer->rows[i].total_ns;
  return sum_ns;
}

// Rows are sorted by name.
const ppi_answer_row *ppi_part_greatest(const ppi_answer *answer,
                                        const ppi_part *part) {
  const ppi_answer_row *greatest = NULL;
  uint64_t most_ns = 0;
  for (size_t i = 0; i < answer->num_rows;) {
    const char *name = answer->rows[i].name;
    const ppi_answer_row *first = NULL;
    uint64_t sum_ns = 0;
    for (; i < answer->num_rows && strcmp(answer->rows[i].name, name) == 0;
         i++) {
      const ppi_answer_row *row = &answer->rows[i];
      if (!ppi_part_has(part, row)) continue;
      sum_ns += row->total_ns;
      if (!first || row->total_ns > first->total_ns) first = row;
    }
    if (sum_ns <= most_ns) continue;
    greatest = first;
    most_ns = sum_ns;
  }
  return greatest;
}

// Rows of the same place: `row` and its parts follow each other.
static const ppi_answer_row *greatest_inside(const ppi_answer *answer,
                                             const ppi_answer_row *row,
                                             uint64_t *out_all_ns) {
  const ppi_answer_row *end = answer->rows + answer->num_rows;
  const ppi_answer_row *greatest = NULL;
  *out_all_ns = 0;
  for (const ppi_answer_row *part = row + 1; part < end && *part->child;
       part++) {
    *out_all_ns += part->total_ns;
    if (!greatest || part->total_ns > greatest->total_ns) greatest = part;
  }
  return greatest;
}

ppi_costly ppi_part_costly(const ppi_answer *answer) {
  enum { LEAST = 4 };
  ppi_part work = {.wheres = PPI_PART_WORK};
  const ppi_answer_row *row = ppi_part_greatest(answer, &work);
  if (!row) return (ppi_costly){0};
  work.name = row->name;
  ppi_costly stage = {row, row->name, NULL, ppi_part_sum(answer, &work)};
  uint64_t all_ns;
  const ppi_answer_row *part = greatest_inside(answer, row, &all_ns);
  uint64_t self_ns = row->total_ns - PPI_MIN(all_ns, row->total_ns);
  // A stage that calls itself counts as one.
  bool is_other = part && strcmp(part->child, row->name) != 0;
  if (!is_other || part->total_ns < self_ns ||
      part->total_ns < stage.sum_ns / LEAST)
    return stage;
  return (ppi_costly){part, part->child, part->name, part->total_ns};
}

ppi_words ppi_costly_name(const ppi_costly *costly) {
  ppi_words words = ppi_words_name(costly->name);
  if (costly->inside)
    PPI_ADD(words.text, ", inside %s,", ppi_words_name(costly->inside).text);
  return words;
}

uint64_t ppi_part_on_host(const ppi_answer *answer, const char *name) {
  const ppi_part stages = {.name = name, .wheres = 1u << PPI_WHERE_HOST};
  uint64_t sum_ns = ppi_part_sum(answer, &stages);
  for (size_t i = 0; i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    if (row->where == PPI_WHERE_HOST && strcmp(row->child, name) == 0 &&
        strcmp(row->name, name) != 0)
      sum_ns += row->total_ns;
  }
  return sum_ns;
}

double ppi_part_mean(const ppi_answer *answer, uint64_t sum_ns) {
  return answer->num_units ? (double)sum_ns / (double)answer->num_units : 0;
}

double ppi_part_share(const ppi_answer *answer, uint64_t sum_ns) {
  return answer->total_ns ? (double)sum_ns / (double)answer->total_ns : 0;
}

double ppi_part_of_all(const ppi_search *search, double ns) {
  const ppi_answer *answer = search->answer;
  double num = (double)(answer->num_all + answer->num_cold);
  double all_ns = search->unit_ns * num;
  return all_ns > 0 ? PPI_MIN(ns / all_ns, 1.0) : 0;
}

ppi_words ppi_part_of_unit(const ppi_search *search, uint64_t sum_ns) {
  ppi_words words;
  const ppi_answer *answer = search->answer;
  PPI_SAY(words.text, "%.16s of %.16s %s%s (%.8s)",
          ppi_words_time(ppi_part_mean(answer, sum_ns)).text,
          ppi_words_time(search->unit_ns).text,
          search->base == PPI_BASE_WALL ? "of the " : "",
          search->base == PPI_BASE_WALL ? search->unit : search->a_unit,
          ppi_words_percent((double)sum_ns, (double)answer->total_ns).text);
  return words;
}

// ---- outliers ----

typedef struct outliers {
  double limit_ns, sum_ns;
  uint64_t num;
} outliers;

static void see_unit(void *context, uint64_t ns, uint64_t num) {
  outliers *sum = context;
  if ((double)ns <= sum->limit_ns) return;
  sum->num += num;
  sum->sum_ns += (double)ns * (double)num;
}

// An outlier takes at least ten times as long as the usual unit.
static outliers outliers_of(const ppi_answer *answer,
                            const ppi_answer_row *row) {
  uint64_t usual_ns = ppi_answer_quantile(answer, row, 50);
  outliers sum = {.limit_ns = 10.0 * (double)usual_ns};
  ppi_histogram_each(&row->times, see_unit, &sum);
  return sum;
}

bool ppi_part_has_outliers(const ppi_answer *answer,
                           const ppi_answer_row *row) {
  enum { LEAST = 10, ONE_IN = 100 };
  if (answer->num_units < LEAST) return false;
  const outliers sum = outliers_of(answer, row);
  return sum.num && sum.num <= PPI_MAX(answer->num_units / ONE_IN, 1u) &&
         2 * sum.sum_ns >= (double)row->total_ns;
}

ppi_words ppi_part_of_usual(const ppi_search *search, const ppi_answer_row *row,
                            uint64_t sum_ns) {
  const ppi_answer *answer = search->answer;
  ppi_words words;
  if (!ppi_part_has_outliers(answer, row))
    return ppi_part_of_unit(search, sum_ns);
  const outliers sum = outliers_of(answer, row);
  double usual_ns = (double)ppi_answer_quantile(answer, row, 50);
  double part_ns = PPI_MIN(sum.sum_ns, (double)row->total_ns);
  PPI_SAY(words.text,
          "%.16s of a usual %s, and up to %.16s in %llu of %llu (%.8s of its "
          "time)",
          ppi_words_time(usual_ns).text, search->unit,
          ppi_words_time((double)row->max_ns).text, (unsigned long long)sum.num,
          (unsigned long long)answer->num_units,
          ppi_words_percent(part_ns, (double)row->total_ns).text);
  return words;
}

double ppi_part_in_flight(const ppi_answer *answer) {
  double mean_ns = ppi_part_mean(answer, answer->total_ns);
  return answer->span_ns
             ? mean_ns * (double)answer->num_all / (double)answer->span_ns
             : 0;
}

// ---- time on a processor ----

ppi_cpu_sums ppi_processor_of(const ppi_figures *figures, const char *name) {
  ppi_cpu_sums sums = {0};
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].cpu.num_known &&
        strcmp(figures->names[i].name, name) == 0)
      ppi_cpu_sums_merge(&sums, &figures->names[i].cpu);
  return sums;
}

double ppi_processor_share(const ppi_cpu_sums *sums) {
  enum { LEAST = 10 };
  if (sums->num_known < LEAST || !sums->real_ns) return -1;
  return (double)(sums->user_ns + sums->sys_ns) / (double)sums->real_ns;
}

double ppi_processor_queued(const ppi_cpu_sums *sums) {
  if (sums->num_queued < sums->num_known || !sums->real_ns) return 0;
  return (double)sums->run_queue_ns / (double)sums->real_ns;
}

double ppi_processor_ready(const ppi_cpu_sums *sums) {
  double share = ppi_processor_share(sums);
  return share < 0 ? share : share + ppi_processor_queued(sums);
}

// ---- gaps before stages ----

typedef struct hop {
  const char *name;
  uint64_t ns;
} hop;

PPI_ORDER(compare_hops, hop, PPI_BY_TEXT(name))

static void add_request(const ppi_steady_request *from, hop *hops,
                        ppi_hops *out) {
  const ppi_request_row *row = from->row;
  for (size_t i = 0; i < row->num_cells; i++) {
    const ppi_request_cell *cell = &from->run->cells[row->first_cell + i];
    hops[cell->stage].ns += cell->hop_ns;
  }
  out->all_ns += row->length_ns;
}

// The gaps of all runs; each run has its own begin index.
typedef struct stages {
  hop *hops;
  size_t *first;
  size_t num;
} stages;

static bool list_stages(const ppi_figures *figures, stages *out) {
  size_t num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += figures->request_runs[i]->num_stages;
  *out = (stages){
      .hops = ppi_alloc((num + 1) * sizeof *out->hops),
      .first = ppi_alloc((figures->num_request_runs + 1) * sizeof *out->first)};
  if (!out->hops || !out->first) return false;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    out->first[i] = out->num;
    for (size_t k = 0; k < run->num_stages; k++)
      out->hops[out->num++] = (hop){run->stages[k].name, 0};
  }
  return true;
}

// Stages of the same name are one.
static void choose(const hop *hops, size_t num, ppi_hops *out) {
  for (size_t i = 0; i < num;) {
    const char *name = hops[i].name;
    uint64_t sum_ns = 0;
    for (; i < num && strcmp(hops[i].name, name) == 0; i++)
      sum_ns += hops[i].ns;
    if (sum_ns <= out->hop_ns) continue;
    out->name = name;
    out->hop_ns = sum_ns;
  }
}

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out) {
  ppi_steady_request *list = NULL;
  size_t num_requests = 0, num_cold;
  stages all;
  *out = (ppi_hops){0};
  // For a joined request, other processes record what this one does not.
  if (figures->are_joined) return PPROF_STATUS_OK;
  pprof_status status =
      list_stages(figures, &all)
          ? ppi_steady_requests(figures, &list, &num_requests, &num_cold)
          : PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < num_requests && status == PPROF_STATUS_OK; i++)
    add_request(&list[i], all.hops + all.first[list[i].run_index], out);
  if (all.num > 1) qsort(all.hops, all.num, sizeof *all.hops, compare_hops);
  if (status == PPROF_STATUS_OK) choose(all.hops, all.num, out);
  PPI_FREE_ALL(list, all.first, all.hops);
  return status;
}

// ---- below the first level ----

static bool is_of(const ppi_figures *figures, const ppi_report_path *path,
                  const ppi_costly *costly) {
  if (path->on_device || strcmp(path->name, costly->name) != 0) return false;
  const ppi_report_path *up = ppi_path_row_up(figures, path);
  return !costly->inside || (up && strcmp(up->name, costly->inside) == 0);
}

// Of the stage's places, the one with most of its time.
static const ppi_report_path *place_of(const ppi_figures *figures,
                                       const ppi_costly *costly,
                                       uint64_t *out_all_ns) {
  const ppi_report_path *found = NULL;
  *out_all_ns = 0;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_report_path *path = &figures->paths[i];
    if (!is_of(figures, path, costly)) continue;
    *out_all_ns += path->spread.sum;
    if (!found || path->spread.sum > found->spread.sum) found = path;
  }
  return found;
}

// The paths inside a path follow it directly.
static const ppi_report_path *most_in(const ppi_figures *figures,
                                      const ppi_report_path *up) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  const ppi_report_path *found = NULL;
  for (const ppi_report_path *path = up + 1;
       path < end && ppi_path_row_is_in(path, up); path++)
    if (!path->on_device && path->level == up->level + 1 &&
        (!found || path->spread.sum > found->spread.sum))
      found = path;
  return found;
}

// A call that is cut or never ended has no time of its own, so ranges inside
// may have more than its siblings.
static bool is_most(const ppi_report_path *at, const ppi_report_path *next,
                    uint64_t all_ns) {
  uint64_t ns = next->spread.sum;
  return ns && ns <= at->spread.sum && ns >= at->spread.sum / 2 &&
         ns >= all_ns / 4 && strcmp(next->name, at->name) != 0;
}

ppi_deep ppi_deep_of(const ppi_figures *figures, const ppi_costly *costly) {
  ppi_deep deep = {.way = ""};
  uint64_t all_ns;
  const ppi_report_path *at = place_of(figures, costly, &all_ns);
  while (at) {
    const ppi_report_path *next = most_in(figures, at);
    if (!next || !is_most(at, next, all_ns)) return deep;
    PPI_ADD(deep.way, "%s%s", *deep.way ? " / " : "",
            ppi_words_name(next->name).text);
    deep.share = (double)next->spread.sum / (double)all_ns;
    deep.name = next->name;
    at = next;
  }
  return deep;
}
