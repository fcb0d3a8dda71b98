// SPDX-License-Identifier: Apache-2.0
//
// Finds moments in which everything stands still though there is work.
#include "report/limit/rules.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"
#include "report/limit/walk.h"

// The usual lengths of a name's calls, once they were asked for.
typedef struct usual {
  bool is_known;
  uint64_t least_ns, most_ns;
} usual;

typedef struct silence {
  uint64_t *events, *gaps;
  size_t num;
  uint64_t least_ns;
  usual *usuals;  // of each name
  ppi_row_calls by_row;
} silence;

// Begins and ends of all calls on rows, in order.
static bool list_events(const ppi_limit_model *model, silence *out) {
  out->events = ppi_alloc((2 * model->num_calls + 1) * sizeof *out->events);
  out->gaps = ppi_alloc((2 * model->num_calls + 1) * sizeof *out->gaps);
  out->usuals = ppi_alloc((model->num_names + 1) * sizeof *out->usuals);
  if (!out->events || !out->gaps || !out->usuals) return false;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & (PPI_CALL_STEP | PPI_CALL_LOOSE)) continue;
    if (call->start_ns >= model->from_ns && call->start_ns <= model->to_ns)
      out->events[out->num++] = call->start_ns;
    if (call->end_ns >= model->from_ns && call->end_ns <= model->to_ns)
      out->events[out->num++] = call->end_ns;
  }
  ppi_sort_numbers(out->events, out->num);
  return ppi_row_calls_list(model, &out->by_row);
}

static uint64_t median_call(const ppi_limit_model *model, uint64_t *room) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & (PPI_CALL_STEP | PPI_CALL_LOOSE)) continue;
    room[num++] = call->end_ns - call->start_ns;
  }
  ppi_sort_numbers(room, num);
  return ppi_quantile_of(room, num, 0.5);
}

static const uint64_t shortest_pause_ns = 4000000;

static bool has_silence(const silence *of) {
  for (size_t i = 0; i + 1 < of->num; i++)
    if (of->events[i + 1] - of->events[i] > shortest_pause_ns) return true;
  return false;
}

static void find_least(const ppi_limit_model *model, silence *out) {
  uint64_t median_ns = median_call(model, out->gaps);
  for (size_t i = 0; i + 1 < out->num; i++)
    out->gaps[i] = out->events[i + 1] - out->events[i];
  if (out->num) ppi_sort_numbers(out->gaps, out->num - 1);
  uint64_t usual_ns = ppi_quantile_of(out->gaps, out->num - 1, 0.9);
  out->least_ns =
      PPI_MAX(shortest_pause_ns, PPI_MAX(5 * median_ns, 3 * usual_ns));
}

static usual usual_call(const ppi_limit_model *model, uint32_t name,
                        const silence *all) {
  const ppi_limit_name *of = &model->names[name];
  usual *out = &all->usuals[name];
  if (out->is_known) return *out;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[of->first + i]];
    all->gaps[i] = call->end_ns - call->start_ns;
  }
  ppi_sort_numbers(all->gaps, of->num);
  *out = (usual){true, ppi_quantile_of(all->gaps, of->num, 0.05),
                 ppi_quantile_of(all->gaps, of->num, 0.75)};
  return *out;
}

// Whether the request of `call` has waited for at least half of the silence
// before it.
static bool has_waited(const ppi_limit_model *model, uint32_t index,
                       uint64_t from_ns, uint64_t to_ns) {
  const ppi_limit_call *call = &model->calls[index];
  if (model->unit_kind != PPI_UNIT_REQUEST || !call->num) return false;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  uint64_t ready_ns = unit->start_ns;
  for (size_t i = 0; i < unit->num; i++) {
    uint32_t at = model->unit_calls[unit->first + i];
    if (at == index) break;
    ready_ns = PPI_MAX(ready_ns, model->calls[at].end_ns);
  }
  return ready_ns < call->start_ns &&
         PPI_MAX(ready_ns, from_ns) + (to_ns - from_ns) / 2 <= to_ns;
}

// Whether the output of a call stays untaken until `to_ns`.
static bool is_waiting(const ppi_limit_model *model, uint32_t call,
                       uint64_t to_ns) {
  uint32_t next = model->next_call[call];
  return next != PPI_NO_CALL && model->calls[next].start_ns >= to_ns &&
         model->calls[next].row != model->calls[call].row;
}

// Whether a row has as many untaken outputs at `to_ns` as it ever had: there is
// no room for another.
static bool is_blocked(const ppi_limit_model *model, const ppi_limit_row *row,
                       uint32_t last, uint64_t to_ns) {
  size_t num = 0, at = 0;
  if (last == PPI_NO_CALL || !model->next_call) return false;
  while (at < row->num_outer && row->outer[at] != last) at++;
  while (num <= at && is_waiting(model, row->outer[at - num], to_ns)) num++;
  for (size_t i = num; num && i < row->num_outer; i++)
    if (is_waiting(model, row->outer[i - num],
                   model->calls[row->outer[i]].end_ns))
      return false;
  return num > 0;
}

// Calls that are open all along a silence.
typedef struct spanning {
  size_t num, go_on, far_longer;
} spanning;

// A call goes on if it is about as long as usual, and would be too short
// without the silence.
static void add_spanning(const ppi_limit_model *model,
                         const ppi_limit_call *call, uint64_t silence_ns,
                         const silence *all, spanning *to) {
  const usual its = usual_call(model, call->name, all);
  uint64_t least_ns = its.least_ns * 9 / 10;
  uint64_t length_ns = call->end_ns - call->start_ns;
  to->num++;
  to->go_on +=
      2 * length_ns <= 3 * its.most_ns && length_ns < least_ns + silence_ns;
  to->far_longer += length_ns >= 3 * its.most_ns;
}

// Whether a row's call waits for another thread, as is recorded: it is long
// because that thread's is.
static bool waits_for_another(const ppi_limit_model *model, const silence *of,
                              uint32_t row, uint64_t from_ns) {
  uint64_t until_ns;
  uint32_t call = ppi_row_calls_at(model, &of->by_row, row, from_ns, &until_ns);
  return call != PPI_NO_CALL && model->calls[call].flags & PPI_CALL_WAIT;
}

// The number of rows with work in the silence: a call that is open throughout
// and far longer than usual, or a request that begins right after it. 0: calls
// go on.
static size_t rows_with_work(const ppi_limit_model *model, const silence *of,
                             uint64_t from_ns, uint64_t to_ns) {
  uint64_t slack_ns = PPI_MAX((uint64_t)1000000, (to_ns - from_ns) * 3 / 100);
  spanning calls = {0};
  size_t num = 0;
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    uint32_t last;
    if (row->last_ns <= from_ns || row->first_ns > to_ns + slack_ns) continue;
    if (ppi_row_is_taken(model, row, from_ns, &last)) {
      const ppi_limit_call *call = &model->calls[last];
      if (call->end_ns >= to_ns && !(call->flags & PPI_CALL_DEVICE) &&
          !waits_for_another(model, of, (uint32_t)i, from_ns))
        add_spanning(model, call, to_ns - from_ns, of, &calls);
      continue;
    }
    size_t at = ppi_row_place(model, row, to_ns);
    if (is_blocked(model, row, last, to_ns) || at == row->num_outer) continue;
    num += model->calls[row->outer[at]].start_ns <= to_ns + slack_ns &&
           has_waited(model, row->outer[at], from_ns, to_ns);
  }
  if (2 * calls.go_on > calls.num) return 0;
  return num + calls.far_longer;
}

// Whether arrivals stop and then come all at once.
static bool arrivals_stop(const ppi_limit_model *model, uint64_t from_ns,
                          uint64_t to_ns) {
  uint64_t slack_ns = PPI_MAX((uint64_t)1000000, (to_ns - from_ns) * 3 / 100);
  size_t num = 0;
  if (model->unit_kind != PPI_UNIT_REQUEST || !model->span_ns) return false;
  for (size_t i = 0; i < model->num_units; i++)
    num += model->units[i].start_ns >= to_ns &&
           model->units[i].start_ns <= to_ns + slack_ns;
  double expected = (double)model->num_units * (double)(to_ns - from_ns) /
                    (double)model->span_ns;
  return num >= 3 && 2 * (double)num >= expected;
}

static bool find_pauses(ppi_limit_search *search, silence *of) {
  ppi_limit_model *model = search->model;
  for (size_t i = 0; i + 1 < of->num; i++) {
    uint64_t from_ns = of->events[i], to_ns = of->events[i + 1];
    if (to_ns - from_ns <= of->least_ns) continue;
    size_t num = rows_with_work(model, of, from_ns, to_ns);
    if (!num || (num == 1 && !arrivals_stop(model, from_ns, to_ns))) continue;
    if (!ppi_intervals_add(&model->pauses, from_ns, to_ns)) return false;
  }
  return true;
}

// Subtracts the pauses from every busy time.
static bool leave_out(ppi_limit_model *model) {
  for (size_t i = 0; i < model->pauses.num; i++) {
    const ppi_interval *pause = &model->pauses.items[i];
    model->pause_ns += pause->to_ns - pause->from_ns;
    if (!ppi_intervals_add(&model->left_out, pause->from_ns, pause->to_ns))
      return false;
  }
  return ppi_intervals_unite(&model->pauses) &&
         ppi_intervals_unite(&model->left_out);
}

void ppi_limit_find_pauses(ppi_limit_search *search) {
  ppi_limit_model *model = search->model;
  silence of = {0};
  bool is_done = list_events(model, &of);
  if (is_done && of.num > 2 && has_silence(&of)) {
    find_least(model, &of);
    is_done = find_pauses(search, &of);
  }
  PPI_FREE_ALL(of.events, of.gaps, of.usuals);
  ppi_row_calls_clear(&of.by_row);
  // With this many silences, they are the usual way of working.
  if (5 * model->pauses.num >= model->num_units) model->pauses.num = 0;
  is_done = is_done && leave_out(model);
  if (is_done)
    model->time_ns = ppi_model_within(model, model->from_ns, model->to_ns);
  search->failed |= !is_done;
}

static double pause_part(const ppi_limit_model *model) {
  uint64_t all_ns = model->time_ns + model->pause_ns;
  return all_ns ? (double)model->pause_ns / (double)all_ns : 0;
}

static void say_pauses(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  double num = (double)model->pauses.num;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_UNRECORDED, "pause", 0, "");
  PPI_SAY(
      out->sentence,
      "Everything stands still %zu time%s, %s each, %s of the time. Nothing "
      "recorded explains it. It may be garbage collection, a stopped "
      "process, or a lock.",
      model->pauses.num, model->pauses.num == 1 ? "" : "s",
      ppi_words_time((double)model->pause_ns / num).text,
      ppi_words_percent(pause_part(model), 1).text);
  PPI_SAY(
      out->next,
      "find out what stops the program; the first time is %s after the start.",
      ppi_words_time((double)model->pauses.items[0].from_ns).text);
}

// The rule holds if pauses cost more than the limit would bring. One or two
// pauses set no rate.
bool ppi_limit_long_pauses(ppi_limit_search *search) {
  enum { LEAST_PAUSES = 3 };
  const ppi_limit_model *model = search->model;
  double part = pause_part(model);
  uint32_t top = ppi_limit_busiest(model), next;
  if (part < 0.03 || top == PPI_NONE || model->pauses.num < LEAST_PAUSES)
    return false;
  double costs = part / (1 - part);
  if (costs <= ppi_limit_gain(model, top, &next)) return false;
  say_pauses(search);
  return true;
}

// The most that halving a stage saves of the time.
static double most_saved(const ppi_limit_model *model) {
  double ns = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->is_relevant && station->num_stages)
      ns = PPI_MAX(ns, (double)station->stages[0].working_ns /
                           (double)station->servers / 2);
  }
  return ns;
}

// With nothing saturated: more of the time of rounds than half of a stage; of
// requests part of the latency, or of the waiting that each
// pause leaves behind (L pauses a second, each of length l: L l^2 / 2 (1 - U)).
bool ppi_limit_pauses(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  if (!model->pauses.num || !model->time_ns || !blame->num_units) {
    double part = pause_part(model);
    if (!model->pauses.num || part < 0.03 ||
        (part < 0.1 && (double)model->pause_ns < most_saved(model)))
      return false;
    say_pauses(search);
    return true;
  }
  double use = 0, line_ns = blame->pause_ns;
  for (size_t i = 0; i < model->num_stations; i++) {
    if (model->stations[i].is_relevant)
      use = PPI_MAX(use, model->stations[i].use);
    line_ns += blame->line_ns[i];
  }
  double length_ns = (double)model->pause_ns / (double)model->pauses.num;
  double rate = (double)model->pauses.num / (double)model->time_ns;
  double behind_ns =
      rate * length_ns * length_ns / (2 * PPI_MAX(1 - use, 0.01));
  double waits_ns = line_ns / (double)blame->num_units;
  bool is_much = blame->pause_ns >= 0.2 * blame->latency_ns ||
                 (waits_ns > 0 && behind_ns >= 0.3 * waits_ns &&
                  line_ns >= 0.2 * blame->latency_ns);
  if (is_much) say_pauses(search);
  return is_much;
}
