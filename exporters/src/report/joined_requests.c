// SPDX-License-Identifier: Apache-2.0
//
// Joins requests that several processes work on. Parts are added up by process
// and stage, on one time axis. The remaining time lies between stages: queues
// and the wire.
#include "report/joined.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "report/answer/account.h"
#include "report/findings/words.h"
#include "report/joined_clocks.h"

typedef struct part {
  uint64_t flow, start_ns, end_ns;
  // The run, from 1 on, if each process numbers its own requests; else 0.
  size_t own;
  const ppi_request_run *run;
  const ppi_request_row *row;
  // The stage that waits for other processes, and the time of that wait.
  const ppi_request_cell *waiting;
  uint64_t waited_ns;
  uint64_t ready_ns;  // the processes before have done their parts
  size_t order;       // parts of the request before this one
  uint32_t host;      // the number of its first run
} part;

typedef struct joining {
  part *parts;
  size_t num, num_units;  // units: different numbers
  const char **stages;    // by number of the stage, of all runs
  size_t num_stages;
} joining;

PPI_ORDER(compare_parts, part,
          PPI_UP(flow) PPI_UP(own) PPI_UP(start_ns) PPI_UP(run))

// ---- runs to join ----

const ppi_report_input *ppi_input_of(const ppi_figures *figures,
                                     const char *uuid, const char *host,
                                     const char *pid) {
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    if (strcmp(input->uuid, uuid) == 0 && strcmp(input->host, host) == 0 &&
        strcmp(input->pid, pid) == 0)
      return input;
  }
  return NULL;
}

static const ppi_report_input *input_of(const ppi_figures *figures,
                                        const ppi_request_run *run) {
  return ppi_input_of(figures, run->uuid, run->host, run->pid);
}

// True if all requests are there, each number once, at a known time.
static bool are_complete(const ppi_figures *figures) {
  bool are = figures->num_request_runs > 1;
  for (size_t i = 0; i < figures->num_request_runs && are; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    const ppi_report_input *input = input_of(figures, run);
    are = input && input->began_ns && !run->thinning && !run->num_reused;
  }
  return are;
}

// True if the runs share a host and a time: equal numbers are then of one
// request.
static bool are_of_one_run(const ppi_figures *figures) {
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    const ppi_report_input *input = input_of(figures, run);
    if (strcmp(run->host, figures->request_runs[0]->host) != 0) return false;
    from_ns = PPI_MAX(from_ns, input->began_ns);
    to_ns = PPI_MIN(to_ns, input->began_ns + input->wall_ns);
  }
  return from_ns < to_ns;
}

// A context's number is of one request in all processes (pprof_flow_context).
static bool is_of_context(uint64_t flow) {
  return flow >> 63;
}

// The request itself is no stage if stages lie in it.
static bool is_other(const ppi_request_run *run, size_t stage) {
  return run->stages[stage].is_whole && run->num_stages > 1;
}

static bool share_stage(const ppi_request_run *a, const ppi_request_run *b) {
  for (size_t i = 0; i < a->num_stages; i++)
    for (size_t k = 0; k < b->num_stages; k++)
      if (!is_other(a, i) && !is_other(b, k) &&
          strcmp(a->stages[i].name, b->stages[k].name) == 0)
        return true;
  return false;
}

static uint32_t host_number(const ppi_figures *figures, const char *host) {
  uint32_t at = 0;
  while (strcmp(figures->request_runs[at]->host, host) != 0) at++;
  return at;
}

static bool list_parts(const ppi_figures *figures, joining *to) {
  size_t num = 0;
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    num += run->num_rows;
    to->num_stages += run->num_stages;
    first_ns = PPI_MIN(first_ns, input_of(figures, run)->began_ns);
  }
  to->parts = ppi_alloc((num + 1) * sizeof *to->parts);
  to->stages = ppi_alloc((to->num_stages + 1) * sizeof *to->stages);
  if (!to->parts || !to->stages) return false;
  size_t stage = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    uint64_t shift_ns = input_of(figures, run)->began_ns - first_ns;
    uint32_t host = host_number(figures, run->host);
    for (size_t k = 0; k < run->num_stages; k++)
      to->stages[stage++] = run->stages[k].name;
    for (size_t k = 0; k < run->num_rows; k++) {
      const ppi_request_row *row = &run->rows[k];
      uint64_t start_ns = shift_ns + row->start_ns;
      to->parts[to->num++] = (part){.flow = row->flow,
                                    .start_ns = start_ns,
                                    .end_ns = start_ns + row->length_ns,
                                    .ready_ns = start_ns,
                                    .host = host,
                                    .run = run,
                                    .row = row};
    }
  }
  if (to->num > 1) qsort(to->parts, to->num, sizeof *to->parts, compare_parts);
  return true;
}

static bool are_of_one(const part *a, const part *b) {
  return a->flow == b->flow && a->own == b->own;
}

// Processes with a stage in common number their requests independently.
static bool share_numbers(const joining *of) {
  for (size_t i = 1; i < of->num; i++) {
    const part *a = &of->parts[i - 1], *b = &of->parts[i];
    if (a->flow == b->flow && !is_of_context(a->flow) &&
        share_stage(a->run, b->run))
      return false;
  }
  return true;
}

static void set_own(const ppi_figures *figures, joining *of) {
  for (size_t i = 0; i < of->num; i++) {
    part *one = &of->parts[i];
    if (is_of_context(one->flow)) continue;
    while (figures->request_runs[one->own++] != one->run) {
    }
  }
  if (of->num > 1) qsort(of->parts, of->num, sizeof *of->parts, compare_parts);
}

// True if any request is of several processes.
static bool is_shared(const ppi_figures *figures, joining *of) {
  bool is_any = false;
  if (!are_of_one_run(figures) || !share_numbers(of)) set_own(figures, of);
  of->num_units = of->num > 0;
  for (size_t i = 1; i < of->num; i++) {
    bool is_one = are_of_one(&of->parts[i - 1], &of->parts[i]);
    of->num_units += !is_one;
    is_any |= is_one;
  }
  return is_any;
}

// ---- one request ----

typedef struct unit {
  uint64_t start_ns, end_ns;
  size_t first, num;  // of parts
} unit;

PPI_ORDER(compare_units, unit, PPI_UP(start_ns) PPI_UP(first))

static unit *list_units(const joining *of) {
  unit *units = ppi_alloc((of->num_units + 1) * sizeof *units);
  size_t num = 0;
  for (size_t i = 0; units && i < of->num; i++) {
    const part *at = &of->parts[i];
    if (!i || !are_of_one(&at[-1], at))
      units[num++] = (unit){at->start_ns, at->end_ns, i, 0};
    unit *to = &units[num - 1];
    to->end_ns = PPI_MAX(to->end_ns, at->end_ns);
    to->num++;
  }
  if (units && num > 1) qsort(units, num, sizeof *units, compare_units);
  return units;
}

static uint32_t stage_number(const ppi_figures *figures, const part *at,
                             uint32_t stage) {
  size_t before = 0;
  for (size_t i = 0; figures->request_runs[i] != at->run; i++)
    before += figures->request_runs[i]->num_stages;
  return (uint32_t)(before + stage + 1);
}

// A request's own range is a stage if the process has no other stage of it.
static bool is_stage(const part *of, const ppi_request_cell *cell) {
  return !of->run->stages[cell->stage].is_whole || of->row->num_cells == 1;
}

static uint64_t time_of(const part *of, const ppi_request_cell *cell) {
  return of->run->stages[cell->stage].is_whole
             ? of->row->length_ns
             : cell->own_ns + cell->contended_ns;
}

// The time of all stages of a process, and of its queue.
static uint64_t work_of(const part *of) {
  uint64_t sum_ns = of->row->queue_ns;
  for (size_t i = 0; i < of->row->num_cells; i++) {
    const ppi_request_cell *cell = &of->run->cells[of->row->first_cell + i];
    if (is_stage(of, cell)) sum_ns += time_of(of, cell);
  }
  return sum_ns;
}

static const ppi_request_cell *greatest_cell(const part *of) {
  const ppi_request_cell *most = NULL;
  for (size_t i = 0; i < of->row->num_cells; i++) {
    const ppi_request_cell *cell = &of->run->cells[of->row->first_cell + i];
    if (is_stage(of, cell) && (!most || time_of(of, cell) > time_of(of, most)))
      most = cell;
  }
  return most;
}

// The time of other processes' parts beside `waits`. A wait is no shorter than
// the work that it waits for, so longer parts do not count.
static uint64_t time_beside(const joining *of, const unit *at,
                            const part *waits) {
  uint64_t most_ns = time_of(waits, waits->waiting), sum_ns = 0;
  for (size_t i = at->first; i < at->first + at->num; i++) {
    const part *one = &of->parts[i];
    uint64_t length_ns = one->end_ns - one->start_ns;
    if (one != waits && length_ns <= most_ns && one->start_ns < waits->end_ns &&
        one->end_ns > waits->start_ns)
      sum_ns += length_ns;
  }
  return PPI_MIN(sum_ns, most_ns);
}

static void take(part *of, uint64_t most_ns, uint64_t *excess_ns) {
  uint64_t taken_ns = PPI_MIN(most_ns, *excess_ns);
  of->waited_ns += taken_ns;
  *excess_ns -= taken_ns;
}

static uint64_t left_of(const part *of) {
  return of->waiting ? time_of(of, of->waiting) - of->waited_ns : 0;
}

// The longest part with time left to take; NULL: none.
static part *longest_part(const joining *of, const unit *at) {
  part *longest = NULL;
  for (size_t i = at->first; i < at->first + at->num; i++) {
    part *one = &of->parts[i];
    if (left_of(one) && (!longest || one->end_ns - one->start_ns >
                                         longest->end_ns - longest->start_ns))
      longest = one;
  }
  return longest;
}

// A stage's wait for other processes is no time of its own. The sum's excess
// over the request's length is taken from each process's greatest stage, then
// from the longest parts.
static void find_waiting(const joining *of, const unit *at) {
  uint64_t sum_ns = 0, length_ns = at->end_ns - at->start_ns;
  for (size_t i = at->first; i < at->first + at->num; i++)
    sum_ns += work_of(&of->parts[i]);
  uint64_t excess_ns = sum_ns > length_ns ? sum_ns - length_ns : 0;
  for (size_t i = at->first; i < at->first + at->num; i++) {
    part *one = &of->parts[i];
    one->waiting = greatest_cell(one);
    if (one->waiting) take(one, time_beside(of, at, one), &excess_ns);
  }
  part *longest;
  while (excess_ns && (longest = longest_part(of, at)))
    take(longest, left_of(longest), &excess_ns);
}

static bool add_part(const ppi_figures *figures, const part *from,
                     ppi_account *to) {
  bool done = true;
  for (size_t i = 0; i < from->row->num_cells && done; i++) {
    const ppi_request_cell *cell = &from->run->cells[from->row->first_cell + i];
    const ppi_request_stage *stage = &from->run->stages[cell->stage];
    uint64_t ns = time_of(from, cell);
    if (!is_stage(from, cell)) continue;
    if (cell == from->waiting) ns -= PPI_MIN(ns, from->waited_ns);
    ppi_moment moment = {
        .where = stage->on_device ? PPI_WHERE_DEVICE : PPI_WHERE_HOST,
        .device = stage->on_device,
        .stage = stage_number(figures, from, cell->stage),
        .ns = ns,
        .stage_calls = cell->calls};
    done = ppi_account_add(to, &moment);
  }
  ppi_moment queue = {
      .where = PPI_WHERE_QUEUE, .device = 1, .ns = from->row->queue_ns};
  return done && queue.ns ? ppi_account_add(to, &queue) : done;
}

static const char *stage_name(const void *ids, uint32_t number) {
  return ((const joining *)ids)->stages[number - 1];
}

static const char *device_name(const void *ids, uint32_t number) {
  (void)ids;
  (void)number;
  return "device";
}

static bool fold_unit(const joining *of, const ppi_figures *figures,
                      const unit *at, ppi_answer *to) {
  const ppi_account_names names = {of, stage_name, device_name, NULL};
  ppi_account account = {0};
  find_waiting(of, at);
  for (size_t i = 0; i < at->num; i++)
    if (!add_part(figures, &of->parts[at->first + i], &account)) return false;
  bool done = ppi_account_fold(&account, at->end_ns - at->start_ns, &names, to);
  ppi_account_clear(&account);
  return done;
}

// ---- the process that limits ----

// A part that lasts as long as this one, or longer, is not before it.
static void find_ready(const joining *of) {
  enum { MOST_BACK = 16 };
  for (size_t i = 1; i < of->num; i++) {
    part *to = &of->parts[i];
    uint64_t before_ns = 0;
    to->order = are_of_one(to - 1, to) ? to[-1].order + 1 : 0;
    for (size_t back = 1; back <= PPI_MIN(to->order, MOST_BACK); back++) {
      uint64_t end_ns = of->parts[i - back].end_ns;
      if (end_ns < to->end_ns) before_ns = PPI_MAX(before_ns, end_ns);
    }
    if (before_ns) to->ready_ns = before_ns;
  }
}

// The part of the time that requests give `servers` of a process something to
// do. As in the model of limits, the first and last 5 % do not count.
static double supplied(ppi_keyed *borders, size_t num, double servers) {
  double all_ns = 0, supplied_ns = 0, present = 0;
  size_t ended = 0;
  ppi_sort_keyed(borders, num);
  for (size_t i = 0; i + 1 < num; i++) {
    bool begins = borders[i].value;
    present += begins ? 1 : -1;
    ended += !begins;
    if (40 * ended < num || 40 * ended >= 19 * num) continue;
    double ns = (double)(borders[i + 1].key - borders[i].key);
    all_ns += ns;
    supplied_ns += ns * PPI_MIN(present, servers) / servers;
  }
  return all_ns > 0 ? supplied_ns / all_ns : 0;
}

// A saturated process: its utilization, and the parts before its own.
typedef struct saturated {
  const ppi_request_run *run;
  double use, order;
} saturated;

// Waiting for input is no work: a server without requests is not busy.
static saturated measure(const joining *of, const ppi_request_run *run,
                         ppi_keyed *borders) {
  saturated out = {run, run->limit.utilization, 0};
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++) {
    const part *one = &of->parts[i];
    if (one->run != run) continue;
    borders[num++] = (ppi_keyed){one->ready_ns, 1};
    borders[num++] = (ppi_keyed){one->end_ns, 0};
    out.order += (double)one->order;
  }
  if (!num) return out;
  out.order /= (double)num / 2;
  double servers = PPI_MAX(run->limit.servers[0].num, 1);
  if (out.order >= 0.5)
    out.use = PPI_MIN(out.use, supplied(borders, num, servers));
  return out;
}

static bool is_named(const ppi_limit *limit, const char *stage) {
  for (size_t i = 0; i < limit->num_names; i++)
    if (strcmp(limit->names[i], stage) == 0) return true;
  return false;
}

// A stage that calls another process keeps its thread, which looks busy.
static bool waits_for_others(const joining *of, const ppi_request_run *run) {
  uint64_t all_ns = 0, waited_ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const part *one = &of->parts[i];
    if (one->run != run || !one->waiting ||
        !is_named(&run->limit, run->stages[one->waiting->stage].name))
      continue;
    all_ns += time_of(one, one->waiting);
    waited_ns += one->waited_ns;
  }
  return (double)waited_ns > (1 - ppi_saturated) * (double)all_ns;
}

static const ppi_answer_row *greatest_row(const ppi_answer *answer) {
  const ppi_answer_row *most = NULL;
  for (size_t i = 0; i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    if (!*row->name || *row->child) continue;
    if (row->where != PPI_WHERE_HOST && row->where != PPI_WHERE_DEVICE)
      continue;
    if (!most || row->total_ns > most->total_ns) most = row;
  }
  return most;
}

// Names the greatest part of requests. Their stage `caller` waits for another
// process. Its bound is that of one thread.
static void say_call(const ppi_answer *joined, const char *caller,
                     ppi_limit *out) {
  const ppi_answer_row *most = greatest_row(joined);
  *out = (ppi_limit){0};
  if (!most || !joined->num_units) return;
  double share = (double)most->total_ns / (double)joined->total_ns;
  ppi_words stage = ppi_words_name(most->name), by = ppi_words_name(caller);
  bool is_caller = strcmp(most->name, caller) == 0;
  out->claim = PPI_CLAIM_PART;
  out->verdict = "call";
  out->demand_ns = (double)most->total_ns / (double)joined->num_units;
  out->bound = share / (2 - share);
  PPI_SAY(out->names[out->num_names++], "%s", most->name);
  PPI_SAY(
      out->sentence,
      "%s is the greatest part of a request: %s of %s (%s). %s keeps its "
      "thread while it waits for another process.",
      stage.text, ppi_words_time(out->demand_ns).text,
      ppi_words_time((double)joined->total_ns / (double)joined->num_units).text,
      ppi_words_percent(share, 1).text, is_caller ? "It" : by.text);
  PPI_SAY(out->next,
          "make %s cheaper, or give %s more threads if requests wait for one.",
          stage.text, by.text);
}

// A thread that waits for a place in a queue looks busy. Of equally busy
// processes the last one holds up the others: Kuo, Lim, Meerkov 1996. Limits
// that are no saturated servers are true of one process's part only.
static bool choose_limit(const joining *of, const ppi_answer *joined,
                         ppi_figures *figures) {
  const double same_use = 0.03;
  const char *caller = NULL;
  size_t num = 0;
  double most = 0;
  saturated *all = ppi_alloc((figures->num_request_runs + 1) * sizeof *all);
  ppi_keyed *borders = ppi_alloc((2 * of->num + 1) * sizeof *borders);
  find_ready(of);
  for (size_t i = 0; all && borders && i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    if (run->limit.claim != PPI_CLAIM_LIMIT) continue;
    if (waits_for_others(of, run)) {
      caller = run->limit.names[0];
      continue;
    }
    all[num] = measure(of, run, borders);
    most = PPI_MAX(most, all[num].use);
    num++;
  }
  const saturated *best = NULL;
  for (size_t i = 0; i < num; i++) {
    bool is_later = !best || all[i].order > best->order ||
                    (all[i].order >= best->order && all[i].use > best->use);
    if (all[i].use + same_use >= most && is_later) best = &all[i];
  }
  figures->limit = best ? best->run->limit : (ppi_limit){0};
  if (!best && caller) say_call(joined, caller, &figures->limit);
  bool is_done = all && borders;
  ppi_free(all);
  ppi_free(borders);
  return is_done;
}

// ---- clocks of hosts ----

static void link_hosts(ppi_host_links *to, const part *a, const part *b) {
  to->are_linked[a->host * to->num_hosts + b->host] = true;
}

static void add_calls(const joining *of, const unit *at, ppi_host_links *to) {
  const part *first = &of->parts[at->first], *longest = first;
  for (const part *one = first; one < first + at->num; one++)
    if (one->end_ns - one->start_ns > longest->end_ns - longest->start_ns)
      longest = one;
  for (const part *one = first; one < first + at->num; one++) {
    if (one > first) link_hosts(to, one - 1, one);
    if (one->host == longest->host) continue;
    link_hosts(to, longest, one);
    int64_t least_ns = (int64_t)(one->end_ns - longest->end_ns);
    int64_t most_ns = (int64_t)(one->start_ns - longest->start_ns);
    to->calls[to->num_calls++] =
        (ppi_host_call){longest->run,      one->run, longest->host, one->host,
                        longest->start_ns, least_ns, most_ns};
  }
}

// The comparison's steps are the cube of the number of runs.
static bool bound_clocks(const joining *of, const unit *units,
                         ppi_figures *figures) {
  const size_t most = 256, num = figures->num_request_runs;
  ppi_host_links links = {.num_hosts = num};
  for (size_t i = 0; i < of->num; i++)
    if (of->parts[i].host) figures->host_clocks = PPI_CLOCKS_UNKNOWN;
  if (!figures->host_clocks || num > most) return true;
  links.are_linked = ppi_alloc(num * num);
  links.calls = ppi_alloc((of->num + 1) * sizeof *links.calls);
  bool done = links.are_linked && links.calls;
  for (size_t i = 0; i < of->num_units && done; i++)
    add_calls(of, &units[i], &links);
  done = done && ppi_bound_clocks(&links, &figures->host_clocks,
                                  &figures->clock_bound_ns);
  ppi_free(links.are_linked);
  ppi_free(links.calls);
  return done;
}

// ---- all ----

static bool fold(const joining *of, const unit *units,
                 const ppi_figures *figures, ppi_answer *to) {
  size_t cold = ppi_units_num_cold(units, of->num_units, sizeof *units,
                                   figures->details.warmup);
  uint64_t last_ns = 0;
  bool done = true;
  for (size_t i = 0; i < of->num_units && done; i++) {
    if (i < cold) {
      to->num_cold++;
      to->cold_ns += units[i].end_ns - units[i].start_ns;
      continue;
    }
    done = fold_unit(of, figures, &units[i], to);
    last_ns = PPI_MAX(last_ns, units[i].end_ns);
  }
  to->num_runs = 1;
  to->num_all = to->num_units;
  to->num_cut = figures->answers[PPI_BASE_REQUEST].num_cut;
  to->before_ns = units[0].start_ns;
  if (to->num_units) to->span_ns = last_ns - units[cold].start_ns;
  ppi_answer_sort(to);
  return done;
}

bool ppi_join_requests(ppi_figures *figures) {
  joining of = {0};
  ppi_answer joined = {0};
  if (!figures->answers[PPI_BASE_REQUEST].num_units || !are_complete(figures))
    return true;
  bool done = list_parts(figures, &of);
  bool is_joined = done && is_shared(figures, &of);
  unit *units = is_joined ? list_units(&of) : NULL;
  if (is_joined)
    done = units && fold(&of, units, figures, &joined) &&
           choose_limit(&of, &joined, figures);
  if (is_joined && done && joined.num_units) {
    ppi_answer_clear(&figures->answers[PPI_BASE_REQUEST]);
    figures->answers[PPI_BASE_REQUEST] = joined;
    joined = (ppi_answer){0};
    // No process has a whole request.
    for (size_t i = 0; i < figures->num_inputs; i++)
      ppi_answer_clear(&figures->inputs[i].answers[PPI_BASE_REQUEST]);
    figures->are_joined = true;
    done = bound_clocks(&of, units, figures);
  }
  ppi_answer_clear(&joined);
  ppi_free(of.parts);
  ppi_free(of.stages);
  ppi_free(units);
  return done;
}
