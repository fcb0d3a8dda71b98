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
#include "base/sort.h"
#include "event/recorded_wait.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

// A lock is the verdict if waiting threads lose `least_lost` of their time and
// some thread waits for `least_use` of all time. From `least_said` on, it is
// only mentioned.
static const double least_lost = 0.25, least_use = 0.3, least_said = 0.1;

typedef ppi_limit_held_lock lock;

// ---- the waits for one lock, by their ends ----

typedef struct wait {
  uint64_t start_ns, end_ns;
  uint32_t by;       // the row of the thread that ended it; PPI_NONE: unknown
  uint64_t from_ns;  // the least begin of this wait and of later ones
} wait;

PPI_ORDER(compare_waits, wait, PPI_UP(end_ns) PPI_UP(start_ns))

static size_t list_waits(const ppi_limit_model *model, uint32_t at, wait *out) {
  const ppi_limit_name *name = &model->names[at];
  size_t num = 0;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (call->flags & PPI_CALL_WAIT)
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

// While its holder waits for another thread's range, that range has the lock.
static void follow_waits(const ppi_limit_model *model, double all_ns,
                         double *times_ns, lock *out) {
  const double most = 0.5;
  for (uint32_t i = 0; i < model->num_names; i++) {
    const ppi_limit_name *name = &model->names[i];
    if (!name->is_recorded || name->waits_for == PPI_NONE) continue;
    if (times_ns[i] >= most * all_ns) out->through = i;
    times_ns[name->waits_for] += times_ns[i];
    times_ns[i] = 0;
  }
}

// Splits `times_ns`: by name, and by row after the names.
static void list_holders(const ppi_limit_model *model, double all_ns,
                         double *times_ns, lock *out) {
  times_ns[out->name] = 0;
  follow_waits(model, all_ns, times_ns, out);
  out->row = ppi_limit_greatest(times_ns + model->num_names, model->num_rows);
  if (out->row != PPI_NONE)
    out->held_by_row = times_ns[model->num_names + out->row] / all_ns;
  while (out->num_holders < PPI_LOCK_HOLDERS) {
    uint32_t name = ppi_limit_greatest(times_ns, model->num_names);
    if (name == PPI_NONE) return;
    out->holders[out->num_holders] = name;
    out->held[out->num_holders++] = times_ns[name] / all_ns;
    times_ns[name] = 0;
  }
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
  if (all_ns > 0) list_holders(model, all_ns, times_ns, out);
}

// ---- the waiting threads ----

static void find_waiters(const ppi_limit_model *model, bool *is_known,
                         lock *out) {
  const ppi_limit_name *name = &model->names[out->name];
  double ns = 0, lower_ns = 0;
  memset(is_known, 0, model->num_rows * sizeof *is_known);
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (!(call->flags & PPI_CALL_WAIT)) continue;
    out->is_relevant |= model->rows[call->row].is_relevant;
    double wait_ns = ppi_window_time(model, call->start_ns, call->end_ns);
    ns += wait_ns;
    if (call->flags & PPI_CALL_LOWER) lower_ns += wait_ns;
    out->num_rows += !is_known[call->row];
    is_known[call->row] = true;
  }
  out->waiting = ns / (double)(model->to_ns - model->from_ns);
  if (ns > 0) out->lower = lower_ns / ns;
  if (out->num_rows) out->lost = out->waiting / (double)out->num_rows;
}

// A semaphore is a lock if a waiting thread also releases it; else it may be a
// signal. Python's locks and signals share one name.
static bool is_lock(const ppi_limit_model *model, const bool *waits,
                    uint32_t at) {
  const ppi_limit_name *name = &model->names[at];
  bool is_python =
      strcmp(ppi_wait_object(name->text), PPI_WAIT_PYTHON_NAME) == 0;
  for (size_t i = 0; i < name->num && !is_python; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    uint32_t by = ppi_row_of_thread(model, call->ended_by);
    if (call->flags & PPI_CALL_LOCK &&
        (!(call->flags & PPI_CALL_POSTED) || (by != PPI_NONE && waits[by])))
      return true;
  }
  return false;
}

// ---- places in a range ----

// A pool by conditions or signals: what threads wait for is a place in a range
// if the thread that ends a wait has left that range, the waiting thread enters
// it next, and as many are in it meanwhile as ever.

// By call: the name of its row's next range that is no wait, + 1; a thread may
// wait several times before it gets a place. NULL: no memory.
static uint32_t *list_next(const ppi_limit_model *model,
                           const ppi_row_calls *of) {
  uint32_t *next = ppi_alloc((model->num_calls + 1) * sizeof *next);
  for (size_t row = 0; next && row < model->num_rows; row++) {
    uint32_t behind = 0;
    for (size_t i = of->first[row + 1]; i > of->first[row]; i--) {
      const ppi_limit_call *call = &model->calls[of->calls[i - 1]];
      next[of->calls[i - 1]] = behind;
      if (!(call->flags & PPI_CALL_WAIT)) behind = call->name + 1;
    }
  }
  return next;
}

// Whether another thread ended the wait of one that serves units.
static bool is_ended(const ppi_limit_model *model, const ppi_limit_call *call) {
  uint32_t by = ppi_row_of_thread(model, call->ended_by);
  return by != PPI_NONE && by != call->row &&
         model->rows[call->row].is_relevant;
}

// Sums up the waits that another thread ended; the range that most of them
// stand before becomes the place.
static double find_place(const ppi_limit_model *model, const uint32_t *next,
                         double *times_ns, lock *out) {
  const ppi_limit_name *name = &model->names[out->name];
  double all_ns = 0;
  memset(times_ns, 0, model->num_names * sizeof *times_ns);
  for (size_t i = 0; i < name->num; i++) {
    uint32_t at = model->by_name[name->first + i];
    const ppi_limit_call *call = &model->calls[at];
    if (!is_ended(model, call)) continue;
    double ns = (double)(call->end_ns - call->start_ns);
    all_ns += ns;
    if (call->ended_in && call->ended_in == next[at])
      times_ns[call->ended_in - 1] += ns;
  }
  out->place = ppi_limit_greatest(times_ns, model->num_names);
  if (out->place != PPI_NONE && 2 * times_ns[out->place] < all_ns)
    out->place = PPI_NONE;
  return all_ns;
}

// The number of places that are taken in the middle of an average wait; `ends`
// and `borders` are room.
static double taken_places(const ppi_limit_model *model, double all_ns,
                           uint64_t *ends, ppi_border *borders, lock *out) {
  const ppi_limit_name *in = &model->names[out->place];
  const ppi_limit_name *name = &model->names[out->name];
  const uint32_t *list = &model->by_name[in->first];
  double taken_ns = 0;
  for (size_t i = 0; i < in->num; i++) {
    const ppi_limit_call *call = &model->calls[list[i]];
    ends[i] = call->end_ns;
    borders[2 * i] = ppi_begin_border(call->start_ns);
    borders[2 * i + 1] = ppi_end_border(call->end_ns);
  }
  ppi_sort_numbers(ends, in->num);
  out->places = ppi_most_at_once(model, borders, 2 * in->num);
  for (size_t i = 0; i < name->num && out->places; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    uint64_t middle_ns = call->start_ns + (call->end_ns - call->start_ns) / 2;
    if (!is_ended(model, call)) continue;
    size_t num =
        ppi_calls_below(model->calls, list, in->num, false, middle_ns) -
        ppi_count_below(ends, in->num, sizeof *ends, middle_ns);
    taken_ns += (double)(call->end_ns - call->start_ns) * (double)num;
  }
  return taken_ns / all_ns;
}

// False: it is no place, or there is no memory.
static bool is_place(ppi_limit_search *search, const uint32_t *next,
                     double *times_ns, lock *out) {
  const ppi_limit_model *model = search->model;
  double all_ns = find_place(model, next, times_ns, out);
  if (out->place == PPI_NONE) return false;
  size_t num = model->names[out->place].num;
  uint64_t *ends = ppi_alloc((num + 1) * sizeof *ends);
  ppi_border *borders = ppi_alloc((2 * num + 1) * sizeof *borders);
  search->failed |= !ends || !borders;
  bool is_one = !search->failed && taken_places(model, all_ns, ends, borders,
                                                out) > out->places - 0.5;
  ppi_free(ends);
  ppi_free(borders);
  return is_one;
}

// ---- the lock ----

// The lock that threads wait for most; name PPI_NONE: there is none.
static lock greatest_lock(ppi_limit_search *search, const uint32_t *next,
                          double *times_ns) {
  const ppi_limit_model *model = search->model;
  lock best = {.name = PPI_NONE};
  bool *is_known = ppi_alloc((model->num_rows + 1) * sizeof *is_known);
  search->failed |= !is_known;
  for (size_t i = 0; is_known && i < model->num_names; i++) {
    lock one = {.name = (uint32_t)i,
                .row = PPI_NONE,
                .place = PPI_NONE,
                .through = PPI_NONE};
    if (model->names[i].category != PPROF_CATEGORY_WAIT) continue;
    find_waiters(model, is_known, &one);
    if (one.waiting <= best.waiting) continue;
    if (is_lock(model, is_known, one.name) ||
        is_place(search, next, times_ns, &one))
      best = one;
  }
  ppi_free(is_known);
  return best;
}

static bool has_waits(const ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_names; i++)
    if (model->names[i].is_recorded) return true;
  return false;
}

static void find_lock(ppi_limit_search *search, const ppi_row_calls *of,
                      double *times_ns) {
  const ppi_limit_model *model = search->model;
  uint32_t *next = list_next(model, of);
  search->failed |= !next;
  lock found = {.name = PPI_NONE};
  if (next) found = greatest_lock(search, next, times_ns);
  ppi_free(next);
  if (search->failed || found.name == PPI_NONE) return;
  wait *waits = ppi_alloc((model->names[found.name].num + 1) * sizeof *waits);
  search->failed |= !waits;
  if (!waits) return;
  find_holder(model, of, waits, list_waits(model, found.name, waits), times_ns,
              &found);
  ppi_free(waits);
  if (found.use >= least_said) search->lock = found;
}

void ppi_limit_find_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  search->lock.name = PPI_NONE;
  if (!has_waits(model)) return;
  ppi_row_calls of = {NULL, NULL};
  double *times_ns =
      ppi_alloc((model->num_names + model->num_rows + 1) * sizeof *times_ns);
  bool is_done = times_ns && ppi_row_calls_list(model, &of);
  search->failed |= !is_done;
  if (is_done) find_lock(search, &of, times_ns);
  ppi_row_calls_clear(&of);
  ppi_free(times_ns);
}

// ---- words ----

static ppi_words name_of_object(const ppi_limit_model *model, uint32_t name) {
  return ppi_words_name(ppi_wait_object(model->names[name].text));
}

static ppi_words object_of(const ppi_limit_model *model, const lock *of) {
  return name_of_object(model, of->name);
}

static const char *holder_of(const ppi_limit_model *model, const lock *of) {
  return of->num_holders ? model->names[of->holders[0]].text : "";
}

// ", 81 % of it by refill (thread worker 3)", or, where that waits for another
// lock, "... while its holder waits for refill (cache)".
static void say_holder(const ppi_limit_model *model, const lock *of, char *out,
                       size_t size) {
  char detail[160] = "";
  out[0] = 0;
  if (!of->num_holders) return;
  bool waits = of->through != PPI_NONE &&
               model->names[of->through].waits_for == of->holders[0];
  if (waits)
    PPI_SAY(detail, " (%s)", name_of_object(model, of->through).text);
  else if (of->held_by_row >= 0.6)
    PPI_SAY(detail, " (thread %s)",
            ppi_words_name(model->rows[of->row].name).text);
  ppi_words_put(out, size, ", %s of it %s %s%s",
                ppi_words_percent(of->held[0], 1).text,
                waits ? "while its holder waits for" : "by",
                ppi_words_name(holder_of(model, of)).text, detail);
}

static bool is_interpreter(const ppi_limit_model *model, const lock *of) {
  return strcmp(model->names[of->name].text,
                PPI_WAIT_PREFIX PPI_WAIT_INTERPRETER_NAME) == 0;
}

// Priority inversion: Lampson, Redell 1980.
static bool is_inverted(const lock *of) {
  return of->lower >= 0.5;
}

static void say_next(const ppi_limit_model *model, const lock *of,
                     ppi_limit *out) {
  ppi_words object =
      name_of_object(model, of->through == PPI_NONE ? of->name : of->through);
  ppi_words holder = ppi_words_name(holder_of(model, of));
  if (is_interpreter(model, of))
    PPI_SAY(out->next,
            "run %s in another process, or where it releases the "
            "lock; more threads will not help.",
            of->num_holders ? holder.text : "it");
  else if (of->place != PPI_NONE)
    PPI_SAY(out->next, "make %s shorter, or let more in at a time.",
            ppi_words_name(model->names[of->place].text).text);
  else if (!of->num_holders)
    PPI_SAY(out->next, "hold %s for less time, or divide it.", object.text);
  else if (is_inverted(of))
    PPI_SAY(out->next,
            "give %s the priority of who waits while it holds %s, or do its "
            "work without.",
            holder.text, object.text);
  else
    PPI_SAY(out->next,
            "do the slow work of %s without holding %s, or divide the lock.",
            holder.text, object.text);
}

static void say_place(const ppi_limit_model *model, const lock *of,
                      ppi_limit *out) {
  const char *place = model->names[of->place].text;
  const char *object = ppi_wait_object(model->names[of->name].text);
  ppi_limit_add_name(out, place);
  if (strcmp(object, PPI_WAIT_PYTHON_NAME) != 0)
    ppi_limit_add_name(out, object);
  PPI_SAY(
      out->sentence,
      "%s is the limit: all %u of its places are taken while others wait %s "
      "of the time. %s of %zu threads wait for one on average.",
      ppi_words_name(place).text, of->places,
      ppi_words_percent(of->use, 1).text, ppi_words_number(of->waiting).text,
      of->num_rows);
}

static void say_lock(const ppi_limit_model *model, const lock *of,
                     ppi_limit *out) {
  char holder[256];
  ppi_limit_add_name(out, holder_of(model, of));
  ppi_limit_add_name(out, ppi_wait_object(model->names[of->name].text));
  if (of->through != PPI_NONE)
    ppi_limit_add_name(out, ppi_wait_object(model->names[of->through].text));
  say_holder(model, of, holder, sizeof holder);
  PPI_SAY(out->sentence,
          "%s%s is the limit: it is held while others wait %s of the time%s. "
          "%s of %zu threads wait for it on average.",
          is_interpreter(model, of) ? "" : "The lock ",
          object_of(model, of).text, ppi_words_percent(of->use, 1).text, holder,
          ppi_words_number(of->waiting).text, of->num_rows);
}

static void say_inversion(const ppi_limit_search *search, const lock *of) {
  if (is_inverted(of))
    PPI_LIMIT_SAY_MORE(search->out,
                       "Priority inversion: %s of the waiting for %s is for "
                       "threads of a lower priority.",
                       ppi_words_percent(of->lower, 1).text,
                       object_of(search->model, of).text);
}

bool ppi_limit_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const lock *found = &search->lock;
  if (found->name == PPI_NONE || found->use < least_use ||
      found->lost < least_lost || !found->is_relevant)
    return false;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_LIMIT, "lock", found->use, "");
  if (found->place != PPI_NONE)
    say_place(model, found, out);
  else
    say_lock(model, found, out);
  say_next(model, found, out);
  say_inversion(search, found);
  return true;
}

void ppi_limit_say_lock(ppi_limit_search *search) {
  const lock *found = &search->lock;
  const char *verdict = search->out->verdict;
  char holder[256];
  if (found->name == PPI_NONE || (verdict && strcmp(verdict, "lock") == 0))
    return;
  say_holder(search->model, found, holder, sizeof holder);
  PPI_LIMIT_SAY_MORE(search->out,
                     "While others wait %s is held %s of the time%s.",
                     object_of(search->model, found).text,
                     ppi_words_percent(found->use, 1).text, holder);
  say_inversion(search, found);
}
