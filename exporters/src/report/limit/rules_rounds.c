// SPDX-License-Identifier: Apache-2.0
//
// Rule for threads that meet after each round of a stage: a barrier, or a
// thread that hands out parts and collects them. A round lasts as long as its
// slowest thread. With that thread's call as long as the others' usual one, the
// round ends at the latest other end (one slow thread); with all calls of mean
// length, at the latest begin plus that length (parts of unlike size).
#include "report/limit/rules.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/say.h"

enum { MOST_THREADS = 256, LEAST_ROUNDS = 10 };

// A round: a call of the stage on each thread.
typedef struct round {
  const ppi_limit_call *calls[MOST_THREADS];
  size_t num;
  uint64_t end_ns;
} round;

// The rounds of one stage.
typedef struct meeting {
  uint32_t name, slow;  // `slow`: the row that costs most
  size_t threads, whole, all, followed;
  double length_ns;               // of calls, on average
  double slow_ns, usual_ns;       // of calls of the slow row, of the others
  double own_saved_ns, saved_ns;  // by `slow` alone; by equal parts
} meeting;

typedef struct sums {
  const ppi_limit_model *model;
  uint64_t *room;               // of MOST_THREADS
  double *saved_ns, *times_ns;  // by row
  size_t *nums;                 // by row
  double even_ns, length_ns;
} sums;

static bool takes_part(const ppi_limit_model *model,
                       const ppi_limit_call *call) {
  return ppi_call_is_on_thread(call) && !(call->flags & PPI_CALL_REQUEST) &&
         call->start_ns >= model->from_ns && call->end_ns <= model->to_ns &&
         ppi_call_within(model, call) == call->end_ns - call->start_ns;
}

static bool has_row(const round *of, uint32_t row) {
  for (size_t i = 0; i < of->num; i++)
    if (of->calls[i]->row == row) return true;
  return false;
}

static uint64_t usual_of_others(const round *of, size_t without,
                                uint64_t *room) {
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++)
    if (i != without)
      room[num++] = of->calls[i]->end_ns - of->calls[i]->start_ns;
  ppi_sort_numbers(room, num);
  return ppi_quantile_of(room, num, 0.5);
}

// The end of the round if its call `last` were as long as the others.
static uint64_t end_without(const round *of, size_t last, uint64_t *room) {
  uint64_t end_ns = of->calls[last]->start_ns + usual_of_others(of, last, room);
  for (size_t i = 0; i < of->num; i++)
    if (i != last) end_ns = PPI_MAX(end_ns, of->calls[i]->end_ns);
  return PPI_MIN(end_ns, of->end_ns);
}

static void add_round(const round *of, sums *to) {
  size_t last = 0;
  double length_ns = 0;
  uint64_t begin_ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = of->calls[i];
    double ns = (double)(call->end_ns - call->start_ns);
    if (call->end_ns > of->calls[last]->end_ns) last = i;
    begin_ns = PPI_MAX(begin_ns, call->start_ns);
    length_ns += ns / (double)of->num;
    to->times_ns[call->row] += ns;
    to->nums[call->row]++;
  }
  to->length_ns += length_ns;
  to->saved_ns[of->calls[last]->row] +=
      (double)(of->end_ns - end_without(of, last, to->room));
  to->even_ns += PPI_MAX((double)of->end_ns - (double)begin_ns - length_ns, 0);
}

// Whether somebody goes on once all have ended. Threads that wait for a place
// in a queue meet, too, but nobody waits for them.
static bool is_followed(const ppi_limit_model *model, const round *of) {
  const uint64_t least_ns = 150000;
  const ppi_limit_call *first = of->calls[0];
  uint64_t slack_ns = PPI_MAX(least_ns, (first->end_ns - first->start_ns) / 10);
  size_t from = 0, to = model->num_calls;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (model->calls[middle].start_ns < of->end_ns)
      from = middle + 1;
    else
      to = middle;
  }
  for (; from < model->num_calls; from++) {
    const ppi_limit_call *call = &model->calls[from];
    if (call->start_ns > of->end_ns + slack_ns) break;
    if (ppi_call_is_on_thread(call) && !(call->flags & PPI_CALL_WAIT) &&
        model->names[call->name].waits == PPI_WAITS_NOT)
      return true;
  }
  return false;
}

static size_t threads_of(const ppi_limit_model *model, uint32_t name,
                         size_t *nums) {
  const ppi_limit_name *of = &model->names[name];
  size_t threads = 0;
  for (size_t i = 0; i < model->num_rows; i++) nums[i] = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[of->first + i]];
    if (takes_part(model, call)) threads += nums[call->row]++ == 0;
  }
  return threads;
}

static void clear(sums *of) {
  of->even_ns = of->length_ns = 0;
  for (size_t i = 0; i < of->model->num_rows; i++) {
    of->saved_ns[i] = of->times_ns[i] = 0;
    of->nums[i] = 0;
  }
}

// Nobody begins a round before all have ended the one before it.
static void find_rounds(sums *to, meeting *out) {
  const ppi_limit_model *model = to->model;
  const ppi_limit_name *of = &model->names[out->name];
  round now = {.num = 0};
  clear(to);
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[of->first + i]];
    if (!takes_part(model, call)) continue;
    if (now.num == out->threads || has_row(&now, call->row)) {
      bool is_whole = now.num == out->threads && now.end_ns <= call->start_ns;
      if (is_whole) add_round(&now, to);
      out->followed += is_whole && is_followed(model, &now);
      out->whole += is_whole;
      out->all++;
      now.num = 0;
      now.end_ns = 0;
    }
    now.calls[now.num++] = call;
    now.end_ns = PPI_MAX(now.end_ns, call->end_ns);
  }
}

static void weigh(const sums *of, meeting *out) {
  double times_ns = 0;
  size_t num = 0;
  out->slow = 0;
  for (uint32_t i = 0; i < of->model->num_rows; i++) {
    if (of->saved_ns[i] > of->saved_ns[out->slow]) out->slow = i;
    times_ns += of->times_ns[i];
    num += of->nums[i];
  }
  double calls = (double)PPI_MAX(of->nums[out->slow], (size_t)1);
  out->slow_ns = of->times_ns[out->slow] / calls;
  out->usual_ns =
      (times_ns - of->times_ns[out->slow]) / PPI_MAX((double)num - calls, 1);
  out->length_ns = of->length_ns / (double)PPI_MAX(out->whole, (size_t)1);
  out->own_saved_ns = of->saved_ns[out->slow];
  out->saved_ns = of->even_ns;
}

// Of two that cost about the same the shorter one says more: it is inside.
static bool is_better(const meeting *one, const meeting *best) {
  if (best->name == PPI_NONE) return true;
  return one->saved_ns > 1.1 * best->saved_ns ||
         (one->saved_ns > 0.9 * best->saved_ns &&
          one->length_ns < best->length_ns);
}

static bool is_one_slow(const meeting *of) {
  return of->own_saved_ns >= 0.6 * of->saved_ns &&
         of->slow_ns >= 1.15 * of->usual_ns;
}

static double saved(const meeting *of) {
  return is_one_slow(of) ? of->own_saved_ns : of->saved_ns;
}

static meeting find_meeting(sums *of) {
  const ppi_limit_model *model = of->model;
  meeting best = {.name = PPI_NONE};
  for (uint32_t i = 0; i < model->num_names; i++) {
    meeting one = {.name = i};
    if (model->names[i].num < 2 * LEAST_ROUNDS) continue;
    one.threads = threads_of(model, i, of->nums);
    if (one.threads < 2 || one.threads > MOST_THREADS) continue;
    find_rounds(of, &one);
    if (one.whole < LEAST_ROUNDS || 10 * one.whole < 9 * one.all ||
        10 * one.followed < 8 * one.whole)
      continue;
    weigh(of, &one);
    if (is_better(&one, &best)) best = one;
  }
  return best;
}

// The time of the greatest other stage on the thread that goes round.
static double greatest_other(const ppi_limit_model *model, const meeting *of,
                             double *times_ns) {
  const ppi_limit_row *row = &model->rows[of->slow];
  double most_ns = 0;
  for (size_t i = 0; i < model->num_names; i++) times_ns[i] = 0;
  for (size_t i = 0; i < row->num_parts; i++)
    times_ns[model->calls[row->parts[i]].name] +=
        (double)model->working_ns[row->parts[i]];
  for (size_t i = 0; i < model->num_names; i++)
    if (i != of->name) most_ns = PPI_MAX(most_ns, times_ns[i]);
  return most_ns;
}

static void say_meeting(ppi_limit_search *search, const meeting *of) {
  const ppi_limit_model *model = search->model;
  ppi_words stage = ppi_words_name(model->names[of->name].text);
  ppi_words slow = ppi_words_name(model->rows[of->slow].name);
  double gain = saved(of) / ((double)model->time_ns - saved(of));
  ppi_limit *out = ppi_limit_begin(search, PPI_CLAIM_PART, "slowest thread", 0,
                                   model->names[of->name].text);
  out->demand_ns = of->slow_ns;
  out->bound = gain;
  if (is_one_slow(of)) {
    PPI_SAY(out->sentence,
            "%s takes %s in %s, the other %zu thread%s %s, and they wait for "
            "it. As fast as the others, it raises the rate by at most %s.",
            slow.text, ppi_words_time(of->slow_ns).text, stage.text,
            of->threads - 1, of->threads == 2 ? "" : "s",
            ppi_words_time(of->usual_ns).text, ppi_words_percent(gain, 1).text);
    PPI_SAY(out->next, "give %s less of the work, or find what slows it.",
            slow.text);
    return;
  }
  PPI_SAY(
      out->sentence,
      "Each round of %s waits for the slowest of %zu threads. Its parts are "
      "uneven: equal ones raise the rate by at most %s.",
      stage.text, of->threads, ppi_words_percent(gain, 1).text);
  PPI_SAY(out->next, "cut %s into smaller parts, which free threads take.",
          stage.text);
}

// Half of the stage brings more where unlike lengths cost less than a quarter
// of it; and so does a greater stage.
static bool is_worth_saying(const sums *of, const meeting *best) {
  const ppi_limit_model *model = of->model;
  if (best->name == PPI_NONE) return false;
  double saved_ns = saved(best);
  double rounds_ns = best->length_ns * (double)best->whole + best->saved_ns;
  return 10 * saved_ns >= (double)model->time_ns &&
         (is_one_slow(best) ? 6 : 4) * saved_ns >= rounds_ns &&
         2 * saved_ns >= greatest_other(model, best, of->times_ns);
}

bool ppi_limit_rounds(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  if (model->unit_kind == PPI_UNIT_REQUEST || !model->time_ns) return false;
  sums of = {.model = model,
             .room = ppi_alloc(MOST_THREADS * sizeof *of.room),
             .saved_ns = ppi_alloc(model->num_rows * sizeof(double)),
             .times_ns = ppi_alloc(PPI_MAX(model->num_rows, model->num_names) *
                                   sizeof(double)),
             .nums = ppi_alloc(model->num_rows * sizeof(size_t))};
  bool found = false;
  search->failed |= !of.room || !of.saved_ns || !of.times_ns || !of.nums;
  if (!search->failed) {
    meeting best = find_meeting(&of);
    found = is_worth_saying(&of, &best);
    if (found) say_meeting(search, &best);
  }
  PPI_FREE_ALL(of.room, of.saved_ns, of.times_ns, of.nums);
  return found;
}
