// SPDX-License-Identifier: Apache-2.0
//
// Finds the longest path. The end of a wait hands work over. A path begins at
// the end of a call on a thread that ends no waits. It leads back over the
// threads that ended each earlier wait, to an arrival from outside. Requests
// need no number for that. Wait graphs of threads: Zhou et al. 2018.
#include "report/limit/rules.h"

#include "base/base.h"
#include "base/mem.h"
#include "event/recorded_wait.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

enum { MOST_PATHS = 1000, MOST_STEPS = 64, LEAST_PATHS = 5 };

typedef struct walk {
  const ppi_limit_model *model;
  ppi_row_calls of;
  double *works_ns, *timers_ns;  // by name
  double gap_ns, all_ns;
  size_t num;  // paths
} walk;

// ---- threads that end no waits ----

static bool is_sink(const ppi_limit_model *model, uint32_t at,
                    const size_t *ended) {
  const ppi_limit_row *row = &model->rows[at];
  return !row->is_device && row->num_outer >= LEAST_PATHS &&
         5 * ended[at] < row->num_outer;
}

static bool count_ended(const ppi_limit_model *model, size_t *ended) {
  bool has_waits = false;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_WAIT)) continue;
    uint32_t by = ppi_row_of_thread(model, call->ended_by);
    if (by != PPI_NONE && by != call->row) ended[by]++;
    has_waits = true;
  }
  return has_waits;
}

// ---- back along a path ----

// The row's range before `time_ns`, PPI_NO_CALL: between calls; *from_ns: its
// begin. False: before the first call.
static bool before(const walk *to, uint32_t row, uint64_t time_ns,
                   uint32_t *out, uint64_t *from_ns) {
  const ppi_limit_call *calls = to->model->calls;
  const uint32_t *list = to->of.calls + to->of.first[row];
  size_t num = ppi_calls_below(
      calls, list, to->of.first[row + 1] - to->of.first[row], false, time_ns);
  if (!num) return false;
  uint32_t at = list[num - 1];
  *from_ns = calls[at].start_ns;
  for (; at != PPI_NO_CALL && calls[at].end_ns < time_ns; at = calls[at].parent)
    *from_ns = calls[at].end_ns;
  *out = at;
  return true;
}

// The thread that ended a wait; PPI_NONE: something outside, or its time-out.
static uint32_t ender(const ppi_limit_model *model, const ppi_limit_call *call,
                      const walk *to) {
  uint32_t by = ppi_row_of_thread(model, call->ended_by);
  bool has_calls = by != PPI_NONE && to->of.first[by] < to->of.first[by + 1];
  return has_calls && by != call->row ? by : PPI_NONE;
}

static void add_stretch(walk *to, uint32_t call, uint64_t from_ns,
                        uint64_t to_ns) {
  double ns = (double)ppi_model_within(to->model, from_ns, to_ns);
  to->all_ns += ns;
  if (call == PPI_NO_CALL)
    to->gap_ns += ns;
  else if (to->model->calls[call].flags & PPI_CALL_WAIT)
    to->timers_ns[to->model->calls[call].name] += ns;
  else
    to->works_ns[to->model->calls[ppi_call_part(to->model, call)].name] += ns;
}

// The pieces of a path count if it comes from another thread or from outside.
static bool follow(walk *to, uint32_t row, uint64_t time_ns, bool counts) {
  bool is_handed = false;
  for (int i = 0; i < MOST_STEPS; i++) {
    uint32_t at;
    uint64_t from_ns;
    if (!before(to, row, time_ns, &at, &from_ns)) break;
    const ppi_limit_call *call =
        at == PPI_NO_CALL ? NULL : &to->model->calls[at];
    bool is_wait = call && call->flags & PPI_CALL_WAIT;
    // A thread that ends a wait is in no wait itself: an open one began later.
    if (is_wait && call->end_ns > time_ns) {
      time_ns = call->start_ns;
      continue;
    }
    uint32_t by = is_wait ? ender(to->model, call, to) : PPI_NONE;
    if (is_wait && by == PPI_NONE && !(call->flags & PPI_CALL_TIMED))
      return true;
    if (by != PPI_NONE) {
      is_handed = true;
      row = by;
      continue;
    }
    if (counts) add_stretch(to, at, from_ns, time_ns);
    time_ns = from_ns;
  }
  return is_handed;
}

static void follow_row(walk *to, uint32_t at) {
  const ppi_limit_model *model = to->model;
  const ppi_limit_row *row = &model->rows[at];
  for (size_t i = 0; i < row->num_outer; i++) {
    uint64_t end_ns = model->calls[row->outer[i]].end_ns;
    if (!ppi_is_sampled(i, row->num_outer, MOST_PATHS) ||
        end_ns < model->from_ns || end_ns > model->to_ns ||
        !follow(to, at, end_ns, false))
      continue;
    follow(to, at, end_ns, true);
    to->num++;
  }
}

// In a circle any thread will do: take the one that goes round.
static void follow_all(walk *to, const size_t *ended) {
  for (size_t i = 0; i < to->model->num_rows; i++)
    if (is_sink(to->model, (uint32_t)i, ended)) follow_row(to, (uint32_t)i);
  if (!to->num && to->model->loop_thread != PPI_NONE)
    follow_row(to, to->model->loop_thread);
}

// ---- words ----

static void say_timer(ppi_limit_search *search, const walk *of, uint32_t name) {
  double num = (double)of->num, ns = of->timers_ns[name];
  const char *object = ppi_wait_object(search->model->names[name].text);
  ppi_limit *out = search->out;
  out->verdict = "timer";
  ppi_limit_add_name(out, object);
  PPI_SAY(out->sentence,
          "Of %s from arrival to end, by the ends of waits, a timer at "
          "%s takes %s (%s).",
          ppi_words_time(of->all_ns / num).text, ppi_words_name(object).text,
          ppi_words_time(ns / num).text,
          ppi_words_percent(ns, of->all_ns).text);
  PPI_SAY(out->next, "wait there for less.");
}

static void say_stage(ppi_limit_search *search, const walk *of, uint32_t name) {
  double num = (double)of->num, ns = of->works_ns[name];
  ppi_words text = ppi_words_name(search->model->names[name].text);
  ppi_limit *out = search->out;
  out->verdict = "longest path";
  ppi_limit_add_name(out, search->model->names[name].text);
  PPI_SAY(out->sentence,
          "%s is the greatest part of the longest path by the ends of waits: "
          "%s of %s (%s).",
          text.text, ppi_words_time(ns / num).text,
          ppi_words_time(of->all_ns / num).text,
          ppi_words_percent(ns, of->all_ns).text);
  PPI_SAY(out->next, "make %s cheaper, or run it beside others.", text.text);
}

static bool say_greatest(ppi_limit_search *search, const walk *of) {
  size_t names = search->model->num_names;
  uint32_t work = ppi_limit_greatest(of->works_ns, names);
  uint32_t timer = ppi_limit_greatest(of->timers_ns, names);
  double work_ns = work == PPI_NONE ? 0 : of->works_ns[work];
  double timer_ns = timer == PPI_NONE ? 0 : of->timers_ns[timer];
  if (of->num < LEAST_PATHS || of->all_ns <= 0) return false;
  if (PPI_MAX(work_ns, timer_ns) <= of->gap_ns) {
    ppi_limit_say_gap(search, of->gap_ns / (double)of->num,
                      of->gap_ns / of->all_ns, "path from arrival to end",
                      "ranges");
    return true;
  }
  search->out->claim = PPI_CLAIM_PART;
  search->out->demand_ns = PPI_MAX(work_ns, timer_ns) / (double)of->num;
  if (timer_ns > work_ns)
    say_timer(search, of, timer);
  else
    say_stage(search, of, work);
  return true;
}

bool ppi_limit_path(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  if (model->unit_kind != PPI_UNIT_ITERATION) return false;
  size_t *ended = ppi_alloc((model->num_rows + 1) * sizeof *ended);
  walk of = {.model = model,
             .works_ns = ppi_alloc((model->num_names + 1) * sizeof(double)),
             .timers_ns = ppi_alloc((model->num_names + 1) * sizeof(double))};
  search->failed |= !ended || !of.works_ns || !of.timers_ns ||
                    !ppi_row_calls_list(model, &of.of);
  bool found = false;
  if (!search->failed && count_ended(model, ended)) {
    follow_all(&of, ended);
    found = say_greatest(search, &of);
  }
  ppi_row_calls_clear(&of.of);
  PPI_FREE_ALL(ended, of.works_ns, of.timers_ns);
  return found;
}
