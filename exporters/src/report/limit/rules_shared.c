// SPDX-License-Identifier: Apache-2.0
//
// Rules for threads that share something unrecorded: a lock, connections, an
// interpreter, processors. Markers show that threads take turns, not for what.
#include "report/limit/rules.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/say.h"

// ---- processors and the interpreter ----

// The number of rows that are occupied for `part` of the time, and their total
// time.
static size_t occupied_rows(const ppi_limit_model *model, double part,
                            double *out_mean, double *out_most_cpu) {
  size_t num = 0, all = 0;
  double ns = 0;
  *out_most_cpu = 0;
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (row->is_device || !row->is_relevant || !model->time_ns) continue;
    double share = (double)row->occupied_ns / (double)model->time_ns;
    num += share >= part;
    all++;
    ns += share;
    *out_most_cpu =
        PPI_MAX(*out_most_cpu, (double)row->cpu_ns / (double)model->time_ns);
  }
  *out_mean = all ? ns / (double)all : 0;
  return num;
}

// The stage that computes most, and its part of all computing.
static uint32_t greatest_computing(const ppi_limit_model *model,
                                   double *out_part) {
  double *ns = ppi_alloc((model->num_names + 1) * sizeof *ns), all = 0;
  *out_part = 0;
  if (!ns) return PPI_NONE;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!ppi_call_is_on_row(call) || call->parent != PPI_NO_CALL) continue;
    ns[call->name] += (double)call->cpu_ns;
    all += (double)call->cpu_ns;
  }
  uint32_t best = ppi_limit_greatest(ns, model->num_names);
  if (best != PPI_NONE && all > 0) *out_part = ns[best] / all;
  ppi_free(ns);
  return best;
}

bool ppi_limit_processors(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  double mean, most, part;
  occupied_rows(model, 0.7, &mean, &most);
  if (model->cpu < 1.3 || model->queued < 0.2 || mean < 0.7) return false;
  uint32_t at = greatest_computing(model, &part);
  const char *name = at == PPI_NONE ? "" : model->names[at].text;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_LIMIT, "processors", 1, name);
  ppi_limit_add_name(out, "processors");
  PPI_SAY(out->sentence,
          "The processors are the limit: %s of them compute all the time. "
          "Threads wait for one %s of their time. %s computes most (%s).",
          ppi_words_number(model->cpu).text,
          ppi_words_percent(model->queued, 1).text,
          *name ? ppi_words_name(name).text : "",
          ppi_words_percent(part, 1).text);
  PPI_SAY(out->next,
          "make %s cheaper, or give it more processors; more threads bring "
          "nothing.",
          *name ? ppi_words_name(name).text : "it");
  return true;
}

bool ppi_limit_interpreter(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  double mean, most, part;
  size_t num = occupied_rows(model, 0.8, &mean, &most);
  if (model->cpu < 0.88 || model->cpu > 1.08 || num < 2 ||
      most > 0.7 * model->cpu)
    return false;
  uint32_t at = greatest_computing(model, &part);
  if (at == PPI_NONE) return false;
  ppi_words name = ppi_words_name(model->names[at].text);
  ppi_limit *out = ppi_limit_begin(search, PPI_CLAIM_LIMIT, "interpreter",
                                   model->cpu, model->names[at].text);
  PPI_SAY(
      out->sentence,
      "One processor at a time: %zu threads are occupied and together compute "
      "%s, as under an interpreter's lock. The greatest part is %s (%s).",
      num, ppi_words_number(model->cpu).text, name.text,
      ppi_words_percent(part, 1).text);
  PPI_SAY(out->next,
          "make %s cheaper, or move it to processes; more threads bring "
          "nothing.",
          name.text);
  return true;
}

// ---- turns: calls end in the order of their begin, or one at a time ----

// Ends of the greatest stage's calls on one row, on the window's time axis. A
// stretch left out, such as a pause, would seem to keep the rows in step.
typedef struct row_ends {
  uint64_t *ends, *lengths;
  size_t num;
} row_ends;

typedef struct ends {
  row_ends *rows;
  size_t num_rows, num;
  uint64_t length_ns;
  uint64_t *all;  // room for all, and for gaps
} ends;

static bool is_saturated_group(const ppi_limit_model *model, size_t at) {
  const ppi_station *station = &model->stations[at];
  return station->kind == PPI_STATION_THREADS && station->is_relevant &&
         station->num_stages && station->servers >= 3 &&
         station->use >= ppi_saturated;
}

static bool list_ends(const ppi_limit_model *model, ends *out) {
  out->rows = ppi_alloc((model->num_rows + 1) * sizeof *out->rows);
  out->all = ppi_alloc((model->num_calls + 1) * sizeof *out->all);
  out->length_ns = model->time_ns;
  if (!out->rows || !out->all) return false;
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (row->station == PPI_NONE || !is_saturated_group(model, row->station))
      continue;
    row_ends *to = &out->rows[out->num_rows++];
    to->ends = ppi_alloc((row->num_parts + 1) * sizeof *to->ends);
    to->lengths = ppi_alloc((row->num_parts + 1) * sizeof *to->lengths);
    if (!to->ends || !to->lengths) return false;
    const ppi_station *station = &model->stations[row->station];
    for (size_t k = 0; k < row->num_parts; k++) {
      const ppi_limit_call *call = &model->calls[row->parts[k]];
      uint64_t end_ns = call->end_ns;
      if (call->name != station->stages[0].name || end_ns < model->from_ns ||
          end_ns >= model->to_ns)
        continue;
      to->lengths[to->num] =
          end_ns - call->start_ns -
          (ppi_intervals_measure(&model->left_out, end_ns) -
           ppi_intervals_measure(&model->left_out, call->start_ns));
      to->ends[to->num++] = ppi_model_within(model, model->from_ns, end_ns);
    }
    out->num += to->num;
  }
  return true;
}

// As if at random: multiples of one number would nearly return.
static uint64_t turned(const ends *of, size_t row, double shift) {
  double turn = fabs(sin(shift * (double)(row + 1) * 12.9898)) * 43758.5453;
  return (uint64_t)((turn - floor(turn)) * (double)of->length_ns);
}

static size_t ends_before(const uint64_t *sorted, size_t num,
                          uint64_t time_ns) {
  return ppi_count_below(sorted, num, sizeof *sorted, time_ns);
}

static size_t sort_ends(const ends *of, double shift) {
  size_t num = 0;
  for (size_t i = 0; i < of->num_rows; i++)
    for (size_t k = 0; k < of->rows[i].num; k++)
      of->all[num++] =
          (of->rows[i].ends[k] + turned(of, i, shift)) % of->length_ns;
  ppi_sort_numbers(of->all, num);
  return num;
}

// The spread of the gaps between ends: variance by squared mean. A hidden
// server with even service makes it nearly 0, in any order.
static double unevenness(const ends *of, double shift) {
  size_t num = sort_ends(of, shift);
  double squares = 0, mean = (double)of->length_ns / (double)num;
  for (size_t i = 0; i < num; i++) {
    uint64_t next_ns =
        i + 1 < num ? of->all[i + 1] : of->all[0] + of->length_ns;
    double gap = (double)(next_ns - of->all[i]) / mean;
    squares += gap * gap;
  }
  return squares / (double)num - 1;
}

// The spread of the number of ends within a call: variance by mean. Calls in
// one line for a hidden server contain as many ends as calls stood before them.
static double overtakes(const ends *of, double shift) {
  size_t num = sort_ends(of, shift);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < of->num_rows; i++) {
    for (size_t k = 0; k < of->rows[i].num; k++) {
      uint64_t end_ns =
          (of->rows[i].ends[k] + turned(of, i, shift)) % of->length_ns;
      uint64_t length_ns = PPI_MIN(of->rows[i].lengths[k], of->length_ns);
      size_t until = ends_before(of->all, num, end_ns);
      size_t inside =
          end_ns >= length_ns
              ? until - ends_before(of->all, num, end_ns - length_ns)
              : until + num -
                    ends_before(of->all, num,
                                end_ns + of->length_ns - length_ns);
      sum += (double)inside;
      squares += (double)inside * (double)inside;
    }
  }
  double mean = sum / (double)num;
  return mean > 0 ? (squares / (double)num - mean * mean) / mean : 0;
}

// Where waits are recorded, it is no lock of this process.
static const char shown_by_no_wait[] =
    "that recorded waits do not show: a connection, a rate limit";

static void say_turns(ppi_limit_search *search, const ends *of) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  char list[160] = "";
  size_t threads = 0;
  double every_ns = (double)of->length_ns / (double)PPI_MAX(of->num, 1);
  out->claim = PPI_CLAIM_UNRECORDED;
  out->verdict = "shared";
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!is_saturated_group(model, i)) continue;
    threads += station->servers;
    out->utilization = PPI_MAX(out->utilization, station->use);
    for (size_t k = 0; k < station->num_stages; k++) {
      if (10 * station->stages[k].working_ns < station->working_ns) break;
      const char *name = model->names[station->stages[k].name].text;
      ppi_limit_add_name(out, name);
      PPI_ADD(list, "%s%s", *list ? ", " : "", ppi_words_name(name).text);
    }
  }
  PPI_SAY(
      out->sentence,
      "%s: %zu threads are all occupied, but they take turns: one call ends "
      "every %s. They share something %s.",
      list, threads, ppi_words_time(every_ns).text,
      model->are_linked ? shown_by_no_wait
                        : "that is not recorded: a lock, a connection, a "
                          "rate limit, an interpreter's lock");
  PPI_SAY(out->next, "%s; more threads will not help.",
          model->are_linked ? "look at what they call"
                            : "record what they wait for");
}

// Compares with the same rows, each rotated by its own amount, which makes them
// independent.
static bool is_below_shifted(const ends *of,
                             double (*measure)(const ends *, double),
                             double part) {
  enum { RUNS = 40 };
  double measured = measure(of, 0);
  for (int i = 1; i <= RUNS; i++) {
    if (measured > part * measure(of, i)) return false;
  }
  return true;
}

static bool take_turns(ppi_limit_search *search) {
  ends of = {0};
  bool found = false;
  search->failed |= !list_ends(search->model, &of);
  if (!search->failed && of.num_rows >= 3 && of.num >= 40 && of.length_ns) {
    found = is_below_shifted(&of, overtakes, 0.75) ||
            is_below_shifted(&of, unevenness, 0.4);
    if (found) say_turns(search, &of);
  }
  for (size_t i = 0; i < of.num_rows; i++) {
    ppi_free(of.rows[i].ends);
    ppi_free(of.rows[i].lengths);
  }
  ppi_free(of.rows);
  ppi_free(of.all);
  return found;
}

// ---- congestion: calls are longer, the more threads are in a stage ----

static bool is_pooled(const ppi_limit_model *model,
                      const ppi_limit_call *call) {
  if (!ppi_call_is_on_row(call) || call->parent != PPI_NO_CALL) return false;
  uint32_t at = model->rows[call->row].station;
  return at != PPI_NONE && model->stations[at].servers >= 2 &&
         model->stations[at].is_relevant;
}

// The number of threads in stage `name`, or in any stage of pooled rows, at the
// begin of each call, without the call itself.
static bool count_others(const ppi_limit_model *model, uint32_t name,
                         ppi_border *borders, uint32_t *others) {
  size_t num = 0, at = 0;
  long open = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (others[i] == PPI_NONE || (name != PPI_NONE && call->name != name))
      continue;
    borders[num++] = ppi_begin_border(call->start_ns);
    borders[num++] = ppi_end_border(call->end_ns);
  }
  if (!num) return false;
  ppi_sort_keyed(borders, num);
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (others[i] == PPI_NONE) continue;
    while (at < num && borders[at].key < call->start_ns)
      open += ppi_border_change(&borders[at++]);
    size_t behind = at;
    long until = open;
    while (behind < num && borders[behind].key == call->start_ns &&
           ppi_border_change(&borders[behind]) < 0)
      until += ppi_border_change(&borders[behind++]);
    others[i] = until > 0 ? (uint32_t)until : 0;
  }
  return true;
}

// By call: the number of other calls at its begin, PPI_NONE where it is not of
// pooled rows; and its length without waits that are ranges.
typedef struct crowd {
  const ppi_limit_model *model;
  uint32_t *others;
  uint64_t *lengths_ns;
} crowd;

static void measure_calls(const crowd *in) {
  const ppi_limit_model *model = in->model;
  uint64_t *out = in->lengths_ns;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    const ppi_interval *wait = &model->waits[i];
    out[i] = call->end_ns - call->start_ns;
    in->others[i] = is_pooled(model, call) ? 0 : PPI_NONE;
    if (!ppi_call_is_on_thread(call)) continue;
    // A wait around it counts for the ranges around that.
    for (uint32_t at = call->parent; at != PPI_NO_CALL;
         at = model->calls[at].parent) {
      out[at] -= PPI_MIN(wait->to_ns - wait->from_ns, out[at]);
      if (model->waits[at].to_ns > model->waits[at].from_ns) break;
    }
  }
}

typedef struct slope {
  double b, error, mean_others, mean_length;
  size_t num;
} slope;

// Sums over one stretch of time.
typedef struct sums {
  double num, x, y, xx, xy, yy;
} sums;

static sums sum_calls(const crowd *in, const ppi_limit_name *of, size_t from,
                      size_t to) {
  const ppi_limit_model *model = in->model;
  sums out = {0};
  for (size_t i = from; i < to; i++) {
    uint32_t at = model->by_name[of->first + i];
    const ppi_limit_call *call = &model->calls[at];
    if (in->others[at] == PPI_NONE || call->end_ns < model->from_ns ||
        call->end_ns > model->to_ns)
      continue;
    double length = (double)in->lengths_ns[at];
    double beside = (double)in->others[at];
    out.num++;
    out.x += beside;
    out.y += length;
    out.xx += beside * beside;
    out.xy += beside * length;
    out.yy += length * length;
  }
  return out;
}

// Least squares of length by number of others. Each of eight stretches of time
// is centred on its own mean.
static slope fit(const crowd *in, uint32_t name) {
  enum { STRETCHES = 8, FEW = 3, LEAST_FITTED = 40 };
  const ppi_limit_name *of = &in->model->names[name];
  sums all = {0};
  double degrees = 0;
  for (size_t s = 0; s < STRETCHES; s++) {
    sums part = sum_calls(in, of, of->num * s / STRETCHES,
                          of->num * (s + 1) / STRETCHES);
    if (part.num < FEW) continue;
    all.xx += part.xx - part.x * part.x / part.num;
    all.xy += part.xy - part.x * part.y / part.num;
    all.yy += part.yy - part.y * part.y / part.num;
    all.x += part.x;
    all.y += part.y;
    all.num += part.num;
    degrees += part.num - 1;
  }
  slope out = {.num = (size_t)all.num};
  if (all.num < LEAST_FITTED || all.xx <= 0) return out;
  out.b = all.xy / all.xx;
  out.error =
      sqrt(PPI_MAX(all.yy - out.b * all.xy, 0) / (degrees - 1) / all.xx);
  out.mean_others = all.x / all.num;
  out.mean_length = all.y / all.num;
  return out;
}

static void look_at_stage(const crowd *in, uint32_t name, double *best_part) {
  slope found = fit(in, name);
  if (found.num < 40 || found.b <= 4 * found.error || found.mean_length <= 0)
    return;
  double part = found.b * found.mean_others / found.mean_length;
  if (part >= 0.2 && part > *best_part) *best_part = part;
}

enum { MOST_STAGES = 24 };

// Stages of pooled rows.
static size_t list_crowded(const ppi_limit_model *model, uint32_t *out) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind != PPI_STATION_THREADS || station->servers < 2 ||
        !station->is_relevant)
      continue;
    for (size_t k = 0; k < station->num_stages && num < MOST_STAGES; k++)
      out[num++] = station->stages[k].name;
  }
  return num;
}

// Tests each stage of pooled rows against itself and against all.
void ppi_limit_find_congestion(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  uint32_t stages[MOST_STAGES];
  double parts[MOST_STAGES] = {0}, most_ns = 0;
  size_t num = list_crowded(model, stages);
  ppi_border *borders = ppi_alloc((2 * model->num_calls + 1) * sizeof *borders);
  uint32_t *others = ppi_alloc((model->num_calls + 1) * sizeof *others);
  uint64_t *lengths_ns = ppi_alloc((model->num_calls + 1) * sizeof *lengths_ns);
  crowd in = {model, others, lengths_ns};
  search->failed |= !borders || !others || !lengths_ns;
  if (!search->failed && num) measure_calls(&in);
  for (size_t k = 0; k <= num && num && !search->failed; k++) {
    if (!count_others(model, k < num ? stages[k] : PPI_NONE, borders, others))
      continue;
    for (size_t i = 0; i < num; i++) look_at_stage(&in, stages[i], &parts[i]);
  }
  for (size_t i = 0; i < num; i++) {
    double ns = PPI_MIN(parts[i], 1.0) * search->blame.own_ns[stages[i]];
    search->congested_ns += ns;
    if (ns <= most_ns) continue;
    most_ns = ns;
    search->congested = stages[i];
    search->congested_part = PPI_MIN(parts[i], 1.0);
  }
  PPI_FREE_ALL(borders, others, lengths_ns);
}

static void say_congested(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_limit_name *name = &model->names[search->congested];
  double mean_ns = (double)name->time_ns / (double)PPI_MAX(name->num, 1);
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_UNRECORDED, "shared", 0, name->text);
  PPI_SAY(out->sentence,
          "%s takes longer the more threads are in it: %s a call, %s of that "
          "by the others. They share something %s%s.",
          ppi_words_name(name->text).text, ppi_words_time(mean_ns).text,
          ppi_words_percent(search->congested_part, 1).text,
          model->are_linked ? shown_by_no_wait
                            : "that is not recorded: a lock, connections, an "
                              "interpreter's lock",
          model->cpu < 0 ? ", processors" : "");
  PPI_SAY(out->next, "record what it waits for%s; more threads will not help.",
          model->cpu < 0 ? ", and CPU use" : "");
  if (model->are_linked)
    PPI_SAY(out->next, "%s; more threads will not help.",
            model->cpu < 0 ? "record CPU use" : "look at what it calls");
}

// A saturated group of threads that lose their time to each other.
bool ppi_limit_takes_turns(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  uint32_t top = ppi_limit_busiest(model);
  if (top != PPI_NONE && model->stations[top].kind == PPI_STATION_ONE_AT_A_TIME)
    return false;
  if (take_turns(search)) return true;
  if (search->congested_ns <= 0) return false;
  for (size_t i = 0; i < model->num_stations; i++) {
    if (!is_saturated_group(model, i)) continue;
    for (size_t k = 0; k < model->stations[i].num_stages; k++) {
      if (model->stations[i].stages[k].name != search->congested) continue;
      say_congested(search);
      return true;
    }
  }
  return false;
}

bool ppi_limit_congested(ppi_limit_search *search) {
  const ppi_blame *blame = &search->blame;
  double line_ns = 0;
  for (size_t i = 0; i < search->model->num_stations; i++)
    line_ns += blame->line_ns[i];
  if (search->congested_ns <= 0 ||
      search->congested_ns < 0.25 * blame->latency_ns ||
      search->congested_ns < 0.7 * line_ns)
    return false;
  say_congested(search);
  return true;
}
