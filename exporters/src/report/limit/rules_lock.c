// SPDX-License-Identifier: Apache-2.0
//
// Rules for locks. From one end of a wait to the next, the thread that ended it
// had the lock: its ranges get that time. Blame goes to the holder: Tallent et
// al. 2010. Time of a lock that nobody waits for is unknown.
#include "report/limit/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/recorded_wait.h"
#include "report/findings/words.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

// A lock is the verdict if waiting threads lose `least_lost` of their time and
// some thread waits for `least_use` of all time. From `least_said` on, it is
// only mentioned.
static const double least_lost = 0.25, least_use = 0.3, least_said = 0.1;

// The effect of one lock on the run.
typedef struct lock {
  uint32_t name;
  double use;            // part of the window in which any thread waits
  double waiting;        // threads that wait, on average
  size_t num_rows;       // threads that ever wait
  double lost;           // part of these rows' time
  uint32_t holder, row;  // the range and the thread that have the lock longest
  double held, held_by_row;  // their parts of `use`
  bool is_relevant;          // a thread that matters waits
} lock;

// ---- the waits for one lock, by their ends ----

typedef struct wait {
  uint64_t start_ns, end_ns;
  uint32_t by;       // the row of the thread that ended it; PPI_NONE: unknown
  uint64_t from_ns;  // the least begin of this wait and of later ones
} wait;

static int compare_waits(const void *left, const void *right) {
  const wait *a = left, *b = right;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static size_t list_waits(const ppi_limit_model *model, uint32_t at, wait *out) {
  const ppi_limit_name *name = &model->names[at];
  size_t num = 0;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (call->flags & PPI_CALL_LOCK)
      out[num++] = (wait){call->start_ns, call->end_ns,
                          ppi_row_of_thread(model, call->ended_by), 0};
  }
  if (num > 1) qsort(out, num, sizeof *out, compare_waits);
  uint64_t from_ns = UINT64_MAX;
  for (size_t i = num; i-- > 0;)
    out[i].from_ns = from_ns = PPI_MIN(from_ns, out[i].start_ns);
  return num;
}

// ---- the holder ----

// The latest moment at which a row has the lock. A row that waits for it at the
// end gave it back before.
static uint64_t given_back(const ppi_limit_model *model,
                           const ppi_row_calls *of, uint32_t row, uint32_t name,
                           uint64_t end_ns) {
  uint64_t until_ns;
  uint32_t at = ppi_row_calls_at(model, of, row, end_ns - 1, &until_ns);
  bool waits = at != PPI_NO_CALL && model->calls[at].name == name;
  return waits ? model->calls[at].start_ns : end_ns;
}

static void find_holder(const ppi_limit_model *model, const ppi_row_calls *of,
                        const wait *waits, size_t num, double *times_ns,
                        lock *out) {
  uint64_t before_ns = 0, known_ns = 0;
  double use_ns = 0, all_ns = 0;
  memset(times_ns, 0, (model->num_names + model->num_rows) * sizeof *times_ns);
  for (size_t i = 0; i < num; i++) {
    const wait *at = &waits[i];
    use_ns +=
        ppi_window_time(model, PPI_MAX(before_ns, at->from_ns), at->end_ns);
    before_ns = at->end_ns;
    // A wait with an unknown end leaves its time to the next wait.
    if (at->by == PPI_NONE) continue;
    ppi_interval held = {PPI_MAX(known_ns, at->from_ns),
                         given_back(model, of, at->by, out->name, at->end_ns)};
    all_ns += ppi_window_time(model, held.from_ns, held.to_ns);
    ppi_row_calls_blame(model, of, at->by, held, times_ns);
    known_ns = at->end_ns;
  }
  out->use = use_ns / (double)(model->to_ns - model->from_ns);
  times_ns[out->name] = 0;
  out->holder = ppi_limit_greatest(times_ns, model->num_names);
  out->row = ppi_limit_greatest(times_ns + model->num_names, model->num_rows);
  if (all_ns <= 0) return;
  if (out->holder != PPI_NONE) out->held = times_ns[out->holder] / all_ns;
  if (out->row != PPI_NONE)
    out->held_by_row = times_ns[model->num_names + out->row] / all_ns;
}

// ---- the waiting threads ----

static void find_waiters(const ppi_limit_model *model, bool *is_known,
                         lock *out) {
  const ppi_limit_name *name = &model->names[out->name];
  double ns = 0;
  memset(is_known, 0, model->num_rows * sizeof *is_known);
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (!(call->flags & PPI_CALL_LOCK)) continue;
    out->is_relevant |= model->rows[call->row].is_relevant;
    ns += ppi_window_time(model, call->start_ns, call->end_ns);
    out->num_rows += !is_known[call->row];
    is_known[call->row] = true;
  }
  out->waiting = ns / (double)(model->to_ns - model->from_ns);
  if (out->num_rows) out->lost = out->waiting / (double)out->num_rows;
}

// A semaphore is a lock if a waiting thread also releases it; else it is a
// signal. Python's locks and signals share one name.
static bool is_signal(const ppi_limit_model *model, const bool *waits,
                      uint32_t at) {
  const ppi_limit_name *name = &model->names[at];
  if (strcmp(ppi_wait_object(name->text), PPI_WAIT_PYTHON_NAME) == 0)
    return true;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    uint32_t by = ppi_row_of_thread(model, call->ended_by);
    if (!(call->flags & PPI_CALL_POSTED) || (by != PPI_NONE && waits[by]))
      return false;
  }
  return true;
}

// The lock that threads wait for most; name PPI_NONE: there is none.
static lock greatest_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  lock best = {.name = PPI_NONE};
  bool *is_known = ppi_alloc((model->num_rows + 1) * sizeof *is_known);
  search->failed |= !is_known;
  for (size_t i = 0; is_known && i < model->num_names; i++) {
    lock one = {.name = (uint32_t)i};
    if (model->names[i].category != PPROF_CATEGORY_WAIT) continue;
    find_waiters(model, is_known, &one);
    if (one.waiting > best.waiting && !is_signal(model, is_known, one.name))
      best = one;
  }
  ppi_free(is_known);
  return best;
}

static lock find_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  lock found = greatest_lock(search);
  if (found.name == PPI_NONE) return found;
  ppi_row_calls of = {NULL, NULL};
  wait *waits = ppi_alloc((model->names[found.name].num + 1) * sizeof *waits);
  double *times_ns =
      ppi_alloc((model->num_names + model->num_rows + 1) * sizeof *times_ns);
  bool is_done = waits && times_ns && ppi_row_calls_list(model, &of);
  search->failed |= !is_done;
  if (is_done)
    find_holder(model, &of, waits, list_waits(model, found.name, waits),
                times_ns, &found);
  ppi_row_calls_clear(&of);
  ppi_free(waits);
  ppi_free(times_ns);
  return found;
}

// ---- words ----

static ppi_words object_of(const ppi_limit_model *model, const lock *of) {
  return ppi_words_name(ppi_wait_object(model->names[of->name].text));
}

// ", 81 % of it by refill on worker 3"
static void say_holder(const ppi_limit_model *model, const lock *of, char *out,
                       size_t size) {
  char thread[64] = "";
  out[0] = 0;
  if (of->holder == PPI_NONE) return;
  if (of->held_by_row >= 0.6)
    PPI_SAY(thread, " (thread %s)",
            ppi_words_name(model->rows[of->row].name).text);
  ppi_words_put(out, size, ", %s of it by %s%s",
                ppi_words_percent(of->held, 1).text,
                ppi_words_name(model->names[of->holder].text).text, thread);
}

static bool is_interpreter(const ppi_limit_model *model, const lock *of) {
  return strcmp(model->names[of->name].text,
                PPI_WAIT_PREFIX PPI_WAIT_INTERPRETER_NAME) == 0;
}

static void say_next(const ppi_limit_model *model, const lock *of,
                     ppi_limit *out) {
  const char *holder =
      of->holder == PPI_NONE ? "it" : model->names[of->holder].text;
  if (is_interpreter(model, of))
    PPI_SAY(out->next,
            "run %s in another process, or where it releases the "
            "lock; more threads will not help.",
            ppi_words_name(holder).text);
  else if (of->holder == PPI_NONE)
    PPI_SAY(out->next, "hold %s for less time, or divide it.",
            object_of(model, of).text);
  else
    PPI_SAY(out->next,
            "do the slow work of %s without holding %s, or divide the lock.",
            ppi_words_name(holder).text, object_of(model, of).text);
}

bool ppi_limit_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  lock found = find_lock(search);
  char holder[256];
  if (search->failed || found.name == PPI_NONE || found.use < least_use ||
      found.lost < least_lost || !found.is_relevant)
    return false;
  ppi_limit *out = ppi_limit_begin(
      search, PPI_CLAIM_LIMIT, "lock", found.use,
      found.holder == PPI_NONE ? "" : model->names[found.holder].text);
  ppi_limit_add_name(out, ppi_wait_object(model->names[found.name].text));
  say_holder(model, &found, holder, sizeof holder);
  PPI_SAY(out->sentence,
          "%s%s is the limit: it is held while others wait %s of the time%s. "
          "%s of %zu threads wait for it on average.",
          is_interpreter(model, &found) ? "" : "The lock ",
          object_of(model, &found).text, ppi_words_percent(found.use, 1).text,
          holder, ppi_words_number(found.waiting).text, found.num_rows);
  say_next(model, &found, out);
  return true;
}

void ppi_limit_say_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const char *verdict = search->out->verdict;
  char holder[256];
  if (verdict && strcmp(verdict, "lock") == 0) return;
  lock found = find_lock(search);
  if (search->failed || found.name == PPI_NONE || found.use < least_said)
    return;
  say_holder(model, &found, holder, sizeof holder);
  PPI_LIMIT_SAY_MORE(search->out,
                     "While others wait %s is held %s of the time%s.",
                     object_of(model, &found).text,
                     ppi_words_percent(found.use, 1).text, holder);
}
