// SPDX-License-Identifier: Apache-2.0
//
// Finds ranges that wait: those that communicate wait for other ranks; the rest
// are found by the moments at which all calls of a name end. Wait states by
// their end: Böhme et al. 2010.
#include "report/limit/find.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

enum { SAMPLES = 400, MOST_NAMES = 96, MOST_ROWS = 64, LEAST_CALLS = 5 };
static const double waiting_part = 0.6;

// ---- a sample of a name's calls ----

typedef struct sample {
  uint32_t calls[SAMPLES];
  size_t num;
} sample;

// From all rows, or from one.
static void take_sample(const ppi_limit_model *model,
                        const ppi_limit_name *name, uint32_t row, sample *out) {
  size_t most = row == PPI_NONE ? SAMPLES : 4 * SAMPLES;
  out->num = 0;
  for (size_t i = 0; i < name->num && out->num < SAMPLES; i++) {
    uint32_t call = model->by_name[name->first + i];
    if (!ppi_is_sampled(i, name->num, most)) continue;
    if (row == PPI_NONE || model->calls[call].row == row)
      out->calls[out->num++] = call;
  }
}

static double weight_of(const ppi_limit_name *name,
                        const ppi_limit_call *call) {
  uint64_t length_ns = call->end_ns - call->start_ns;
  return (double)PPI_MIN(length_ns, 4 * name->median_ns + 1);
}

// ---- for a device ----

// Device work by thread, in the order of its ends.
typedef struct device_ends {
  uint32_t *works;
  size_t *first;  // by thread
} device_ends;

typedef struct sorted_end {
  uint64_t end_ns;
  uint32_t thread, work;
} sorted_end;

PPI_ORDER(compare_ends, sorted_end, PPI_UP(thread) PPI_UP(end_ns))

static bool list_device_ends(const ppi_limit_model *model, device_ends *out) {
  size_t num = model->num_works, thread = 0;
  sorted_end *ends = ppi_alloc((num + 1) * sizeof *ends);
  out->works = ppi_alloc((num + 1) * sizeof *out->works);
  out->first = ppi_alloc((model->num_rows + 2) * sizeof *out->first);
  bool is_done = ends && out->works && out->first;
  for (size_t i = 0; is_done && i < num; i++) {
    const ppi_limit_work *work = &model->works[i];
    ends[i] =
        (sorted_end){work->end_ns, model->calls[work->call].host, (uint32_t)i};
  }
  if (is_done && num > 1) qsort(ends, num, sizeof *ends, compare_ends);
  for (size_t i = 0; is_done && i < num; i++) {
    while (thread <= ends[i].thread) out->first[thread++] = i;
    out->works[i] = ends[i].work;
  }
  for (; is_done && thread < model->num_rows + 2; thread++)
    out->first[thread] = num;
  ppi_free(ends);
  return is_done;
}

// From the submission to the end of the work; empty if the work ends before the
// call begins.
static ppi_interval wait_for(const ppi_limit_call *call, uint64_t submit_ns,
                             uint64_t end_ns) {
  uint64_t from_ns = PPI_MAX(call->start_ns, submit_ns);
  return from_ns < end_ns ? (ppi_interval){from_ns, end_ns}
                          : (ppi_interval){0, 0};
}

// The last device work that ends at most `slack_ns` before the call does, in
// the list of ends; NULL: there is none.
static const uint32_t *last_work(const ppi_limit_model *model,
                                 const device_ends *ends,
                                 const ppi_limit_call *call,
                                 uint64_t slack_ns) {
  size_t low = ends->first[call->row], high = ends->first[call->row + 1];
  size_t first = low;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (model->works[ends->works[middle]].end_ns > call->end_ns)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == first) return NULL;
  const uint32_t *last = &ends->works[low - 1];
  return model->works[*last].end_ns + slack_ns < call->end_ns ? NULL : last;
}

// For the device work of its own request.
static uint32_t last_of_unit(const ppi_limit_model *model,
                             const ppi_limit_call *call, uint64_t slack_ns) {
  uint32_t last = PPI_NO_CALL;
  if (model->unit_kind != PPI_UNIT_REQUEST || !call->num) return last;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  for (size_t i = 0; i < unit->num; i++) {
    uint32_t at = model->unit_calls[unit->first + i];
    const ppi_limit_call *work = &model->calls[at];
    bool ends_with = work->flags & PPI_CALL_DEVICE &&
                     work->end_ns <= call->end_ns &&
                     work->end_ns + slack_ns >= call->end_ns;
    if (ends_with &&
        (last == PPI_NO_CALL || work->end_ns > model->calls[last].end_ns))
      last = at;
  }
  return last;
}

// A call that submits its next work each time that the last one has ended has
// waited for that, too. Each is much longer than what is between.
static uint64_t first_submit(const ppi_limit_model *model,
                             const device_ends *ends,
                             const ppi_limit_call *call, const uint32_t *last) {
  uint64_t from_ns = model->works[*last].submit_ns;
  const uint32_t *first = ends->works + ends->first[call->row];
  while (last-- > first) {
    const ppi_limit_work *work = &model->works[*last];
    uint64_t length_ns = work->end_ns - PPI_MIN(work->submit_ns, work->end_ns);
    if (work->submit_ns < call->start_ns || work->end_ns > from_ns ||
        10 * (from_ns - work->end_ns) > length_ns)
      break;
    from_ns = work->submit_ns;
  }
  return from_ns;
}

static uint64_t slack_of(const ppi_limit_call *call) {
  return PPI_MAX((uint64_t)150000, (call->end_ns - call->start_ns) / 10);
}

static ppi_interval device_wait(const ppi_limit_model *model,
                                const device_ends *ends,
                                const ppi_limit_call *call) {
  const uint32_t *own = last_work(model, ends, call, slack_of(call));
  if (own)
    return wait_for(call, first_submit(model, ends, call, own),
                    model->works[*own].end_ns);
  uint32_t last = last_of_unit(model, call, slack_of(call));
  if (last == PPI_NO_CALL) return (ppi_interval){0, 0};
  const ppi_limit_call *work = &model->calls[last];
  return wait_for(call, work->last_submit_ns, work->end_ns);
}

static bool waits_for_device(const ppi_limit_model *model,
                             const device_ends *ends,
                             const ppi_limit_name *name) {
  const double nearly_all = 0.9, least_part = 0.2;
  sample calls;
  double waits_ns = 0, sure_ns = 0, waiting_ns = 0, all_ns = 0;
  take_sample(model, name, PPI_NONE, &calls);
  for (size_t i = 0; i < calls.num; i++) {
    const ppi_limit_call *call = &model->calls[calls.calls[i]];
    ppi_interval wait = device_wait(model, ends, call);
    double weight = weight_of(name, call);
    double length_ns = (double)(call->end_ns - call->start_ns);
    all_ns += weight;
    if (length_ns <= 0) continue;
    waits_ns += weight * (double)(wait.to_ns - wait.from_ns) / length_ns;
    const uint32_t *last = last_work(model, ends, call, slack_of(call));
    const ppi_limit_work *own = last ? &model->works[*last] : NULL;
    // Launching, too, takes as long as many launches.
    if (!own || own->launches > 1 || model->calls[own->call].dropped) continue;
    if (wait.to_ns > wait.from_ns) waiting_ns += weight;
    sure_ns += weight * (double)(wait.to_ns - wait.from_ns) / length_ns;
  }
  if (all_ns <= 0) return false;
  return waits_ns >= waiting_part * all_ns ||
         (sure_ns >= least_part * all_ns && waiting_ns >= nearly_all * all_ns);
}

// ---- for another thread ----

// By time; the value is a row.
typedef ppi_keyed moment;

// Moments that a call may wait for: begins or ends of a name's calls, or
// arrivals.
typedef struct moments {
  moment *items;
  size_t num;
  uint32_t name;  // PPI_NONE: arrivals
} moments;

static bool fill_moments(const ppi_limit_model *model, uint32_t name, bool ends,
                         moments *out) {
  const ppi_limit_name *of = &model->names[name];
  out->items = ppi_alloc((of->num + 1) * sizeof *out->items);
  out->name = name;
  out->num = 0;
  if (!out->items) return false;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[of->first + i]];
    if (call->flags & (PPI_CALL_LOOSE | PPI_CALL_STEP)) continue;
    out->items[out->num++] =
        (moment){ends ? call->end_ns : call->start_ns, call->row};
  }
  ppi_sort_keyed(out->items, out->num);
  return true;
}

static bool fill_arrivals(const ppi_limit_model *model, moments *out) {
  out->items = ppi_alloc((model->num_units + 1) * sizeof *out->items);
  out->name = PPI_NONE;
  out->num = 0;
  if (!out->items) return false;
  for (size_t i = 0;
       i < model->num_units && model->unit_kind == PPI_UNIT_REQUEST; i++)
    out->items[out->num++] = (moment){model->units[i].start_ns, PPI_NONE};
  ppi_sort_keyed(out->items, out->num);
  return true;
}

enum { MOST_LOOKS = 16 };

// The index of the first moment at or after `from_ns`.
static size_t first_moment(const moments *of, uint64_t from_ns) {
  return ppi_count_below(&of->items->key, of->num, sizeof *of->items, from_ns);
}

// Whether such a moment of another row lies in [from_ns, to_ns].
static bool has_moment(const moments *of, uint64_t from_ns, uint64_t to_ns,
                       uint32_t row) {
  size_t low = first_moment(of, from_ns);
  for (size_t i = low; i < of->num && i < low + MOST_LOOKS; i++) {
    if (of->items[i].key > to_ns) return false;
    if (of->items[i].value != row) return true;
  }
  return false;
}

// Where a moment lies: shortly before or after the end of a call, or before its
// begin.
typedef enum moment_side { BEFORE_END, AFTER_END, BEFORE_BEGIN } moment_side;

static bool has_moment_beside(const moments *of, const ppi_limit_call *call,
                              moment_side side, uint64_t eps_ns) {
  const uint64_t least_ns = 1000, end_ns = call->end_ns;
  const uint64_t start_ns = call->start_ns;
  if (side == BEFORE_END)
    return has_moment(of, end_ns - eps_ns + 1, end_ns - least_ns, call->row);
  if (side == AFTER_END)
    return has_moment(of, end_ns + least_ns, end_ns + eps_ns, call->row);
  return has_moment(of, start_ns > eps_ns ? start_ns - eps_ns : 0,
                    start_ns > least_ns ? start_ns - least_ns : 0, call->row);
}

// A name's calls, and those moments.
typedef struct candidate {
  const ppi_limit_model *model;
  const ppi_limit_name *name;
  const sample *calls;
  const moments *of;
} candidate;

// The part of the calls' time with such a moment. Calls of up to two slacks do
// not count; *out_long: the part of the name's time in the others.
static double part_beside(const candidate *by, moment_side side,
                          uint64_t eps_ns, double *out_long) {
  double counted = 0, all = 0, found = 0;
  for (size_t i = 0; i < by->calls->num; i++) {
    const ppi_limit_call *call = &by->model->calls[by->calls->calls[i]];
    double weight = weight_of(by->name, call);
    all += weight;
    if (call->end_ns - call->start_ns <= 2 * eps_ns) continue;
    counted += weight;
    if (has_moment_beside(by->of, call, side, eps_ns)) found += weight;
  }
  *out_long = all > 0 ? counted / all : 0;
  return counted > 0 ? found / counted : found;
}

static bool explains(const candidate *by, uint64_t eps_ns) {
  double rate = (double)by->of->num / (double)PPI_MAX(by->model->span_ns, 1);
  double chance = 1 - exp(-(double)eps_ns * rate), long_part;
  if (chance > 0.5) return false;
  double before = part_beside(by, BEFORE_END, eps_ns, &long_part);
  return long_part >= 0.6 && before >= waiting_part && before - chance >= 0.4 &&
         part_beside(by, AFTER_END, eps_ns, &long_part) <= 0.35 * before &&
         part_beside(by, BEFORE_BEGIN, eps_ns, &long_part) - chance <
             0.5 * (before - chance);
}

// ---- two that go on beside each other ----

// The only such moment of another row in (from_ns, to_ns]; 0: none, or several.
static uint64_t only_moment(const moments *of, uint64_t from_ns, uint64_t to_ns,
                            uint32_t row) {
  size_t low = first_moment(of, from_ns + 1);
  uint64_t found_ns = 0;
  for (size_t i = low; i < of->num && of->items[i].key <= to_ns; i++) {
    if (i == low + MOST_LOOKS) return 0;
    if (of->items[i].value == row) continue;
    if (found_ns) return 0;
    found_ns = of->items[i].key;
  }
  return found_ns;
}

// Calls that begin at the same event and are about as long end together, though
// neither waits: how long one takes says nothing about the other.
static bool only_go_together(const candidate *by, double eps_ns) {
  const double tight_ns = 150000, least_correlation = 0.4;
  ppi_fit of = {0};
  if (by->of->name == PPI_NONE || eps_ns <= tight_ns) return false;
  for (size_t i = 0; i < by->calls->num; i++) {
    const ppi_limit_call *call = &by->model->calls[by->calls->calls[i]];
    uint64_t at_ns = only_moment(by->of, call->start_ns,
                                 call->end_ns + (uint64_t)eps_ns, call->row);
    if (at_ns)
      ppi_fit_add(&of, (double)(at_ns - call->start_ns),
                  (double)(call->end_ns - call->start_ns));
  }
  return 2 * of.num >= (double)by->calls->num &&
         ppi_fit_correlation(&of) < least_correlation;
}

// The variance of the times between neighbours; 0: they are too few.
static double variance_between(const moments *of) {
  double num = (double)of->num - 1, squares = 0;
  if (num < LEAST_CALLS) return 0;
  double mean = (double)(of->items[of->num - 1].key - of->items[0].key) / num;
  for (size_t i = 0; i + 1 < of->num; i++) {
    double off = (double)(of->items[i + 1].key - of->items[i].key) - mean;
    squares += off * off;
  }
  return squares / num;
}

// A call that waits for a moment adds its own delay, so its ends are no more
// regular than the moments. A timer's ends therefore do not wait for parallel
// work.
static bool is_more_regular(const candidate *by, const moments *ends) {
  const double alike = 0.1;
  double num = (double)ends->num, more = (double)by->of->num - num;
  return fabs(more) <= alike * num &&
         2 * variance_between(ends) < variance_between(by->of);
}

// The length of the call around an average moment in these calls.
static double usual_length(const ppi_limit_model *model,
                           const ppi_limit_name *name, const sample *calls) {
  double all_ns = 0, squares = 0;
  for (size_t i = 0; i < calls->num; i++) {
    double ns = weight_of(name, &model->calls[calls->calls[i]]);
    all_ns += ns;
    squares += ns * ns;
  }
  return all_ns > 0 ? squares / all_ns : 0;
}

// The number of slacks that are short beside the calls.
static size_t slacks_of(const ppi_limit_model *model,
                        const ppi_limit_name *name, const sample *calls) {
  const double most_of_call = 0.42;
  double mean_ns = (double)name->time_ns / (double)PPI_MAX(name->num, 1);
  double usual_ns = usual_length(model, name, calls);
  double most_ns = most_of_call * PPI_MAX(mean_ns, usual_ns);
  size_t num = 0;
  while (num < PPI_NUM_SLACKS && (double)ppi_slacks_ns[num] <= most_ns) num++;
  return num;
}

// The least of `num` slacks that explains the ends; false: none does.
static bool is_explained(const candidate *by, size_t num, double *out_eps_ns) {
  double long_part;
  if (by->of->num < LEAST_CALLS ||
      part_beside(by, BEFORE_END, ppi_slacks_ns[num - 1], &long_part) <
          waiting_part)
    return false;
  for (size_t i = 0; i < num; i++) {
    if (!explains(by, ppi_slacks_ns[i])) continue;
    *out_eps_ns = (double)ppi_slacks_ns[i];
    return true;
  }
  return false;
}

// A name on a row, and what its calls there wait for.
typedef struct waiter {
  uint64_t time_ns;
  uint32_t name, row;
  bool waits;
  uint32_t waits_for;
  double eps_ns;
} waiter;

static void look_for(waiter *who, const candidate *by, const moments *ends,
                     size_t num_slacks) {
  double eps_ns;
  if (by->of->name == who->name || !is_explained(by, num_slacks, &eps_ns))
    return;
  if (who->waits && who->eps_ns <= eps_ns) return;
  if (only_go_together(by, eps_ns) || is_more_regular(by, ends)) return;
  who->waits = true;
  who->waits_for = by->of->name;
  who->eps_ns = eps_ns;
}

// ---- all ----

PPI_ORDER(compare_waiters, waiter, PPI_DOWN(time_ns) PPI_UP(name) PPI_UP(row))

// Names with the most time, MOST_NAMES of them.
static size_t rank_names(const ppi_limit_model *model, waiter *out) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_names; i++) {
    const ppi_limit_name *name = &model->names[i];
    if (name->num < LEAST_CALLS || name->is_recorded ||
        name->category == PPROF_CATEGORY_PROFILE_STEP)
      continue;
    out[num++] = (waiter){.time_ns = name->time_ns, .name = (uint32_t)i};
  }
  if (num > 1) qsort(out, num, sizeof *out, compare_waiters);
  return PPI_MIN(num, (size_t)MOST_NAMES);
}

// The rows of a name, those with the most of its time.
static size_t rank_rows(const ppi_limit_model *model, uint32_t at,
                        uint64_t *times, waiter *out) {
  const ppi_limit_name *name = &model->names[at];
  size_t num = 0;
  for (size_t i = 0; i < model->num_rows; i++) times[i] = 0;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    times[call->row] += call->end_ns - call->start_ns;
  }
  for (size_t i = 0; i < model->num_rows; i++)
    if (times[i])
      out[num++] =
          (waiter){.time_ns = times[i], .name = at, .row = (uint32_t)i};
  if (num > 1) qsort(out, num, sizeof *out, compare_waiters);
  return num;
}

// Tests each row of a name by itself, as each may wait for another thread. The
// name waits if rows with most of its time do.
static bool judge(ppi_limit_model *model, const moments *ends,
                  const moments *all, size_t num_moments, waiter *rows,
                  uint64_t *times) {
  uint32_t at = ends->name;
  ppi_limit_name *name = &model->names[at];
  size_t num = rank_rows(model, at, times, rows);
  uint64_t waits_ns = 0, seen_ns = 0, most_ns = 0;
  for (size_t i = 0; i < PPI_MIN(num, (size_t)MOST_ROWS); i++) {
    sample calls;
    take_sample(model, name, rows[i].row, &calls);
    // Where waits between a thread's ranges are recorded, none has to be found.
    if (calls.num < LEAST_CALLS || model->rows[rows[i].row].num_between)
      continue;
    size_t num_slacks = slacks_of(model, name, &calls);
    for (size_t k = 0; num_slacks && k < num_moments; k++) {
      candidate by = {model, name, &calls, &all[k]};
      look_for(&rows[i], &by, ends, num_slacks);
    }
    seen_ns += rows[i].time_ns;
    if (!rows[i].waits) continue;
    waits_ns += rows[i].time_ns;
    if (rows[i].time_ns <= most_ns) continue;
    most_ns = rows[i].time_ns;
    name->waits_for = rows[i].waits_for;
    name->eps_ns = rows[i].eps_ns;
  }
  if (seen_ns && (double)waits_ns >= waiting_part * (double)seen_ns)
    name->waits = PPI_WAITS_THREAD;
  else
    name->waits_for = PPI_NONE;
  return true;
}

static bool look_at_threads(ppi_limit_model *model, const waiter *names,
                            size_t num) {
  moments *all = ppi_alloc((2 * num + 1) * sizeof *all);
  waiter *rows = ppi_alloc((model->num_rows + 1) * sizeof *rows);
  uint64_t *times = ppi_alloc((model->num_rows + 1) * sizeof *times);
  bool is_done = all && rows && times;
  for (size_t k = 0; is_done && k < 2 * num; k++)
    is_done = fill_moments(model, names[k / 2].name, k % 2, &all[k]);
  is_done = is_done && fill_arrivals(model, &all[2 * num]);
  for (size_t i = 0; i < num && is_done; i++)
    if (model->names[names[i].name].waits == PPI_WAITS_NOT)
      is_done = judge(model, &all[2 * i + 1], all, 2 * num + 1, rows, times);
  for (size_t k = 0; all && k <= 2 * num; k++) ppi_free(all[k].items);
  PPI_FREE_ALL(all, rows, times);
  return is_done;
}

static void mark_waits(ppi_limit_model *model, const device_ends *ends) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & (PPI_CALL_DEVICE | PPI_CALL_STEP)) continue;
    ppi_waits waits = model->names[call->name].waits;
    if (waits == PPI_WAITS_DEVICE)
      model->waits[i] = device_wait(model, ends, call);
    else if (waits == PPI_WAITS_THREAD)
      model->waits[i] = (ppi_interval){call->start_ns, call->end_ns};
  }
}

// These names have recorded waits, too, or have them inside.
static void take_recorded(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    ppi_limit_name *name = &model->names[call->name];
    if (!(call->flags & PPI_CALL_WAIT)) continue;
    name->waits = PPI_WAITS_THREAD;
    name->is_recorded = true;
    for (uint32_t at = call->parent; at != PPI_NO_CALL;
         at = model->calls[at].parent)
      model->names[model->calls[at].name].waits_ns +=
          call->end_ns - call->start_ns;
  }
}

static bool synchronizes(const ppi_limit_model *model,
                         const ppi_limit_name *name) {
  return name->num &&
         model->calls[model->by_name[name->first]].flags & PPI_CALL_SYNC;
}

bool ppi_model_find_waits(ppi_limit_model *model) {
  device_ends ends = {0};
  waiter *names = ppi_alloc((model->num_names + 1) * sizeof *names);
  model->waits = ppi_alloc((model->num_calls + 1) * sizeof *model->waits);
  bool is_done = names && model->waits && list_device_ends(model, &ends);
  if (is_done) take_recorded(model);
  size_t num = is_done ? rank_names(model, names) : 0;
  for (size_t i = 0; i < num; i++) {
    ppi_limit_name *name = &model->names[names[i].name];
    if (name->category == PPROF_CATEGORY_COMMUNICATION ||
        name->category == PPROF_CATEGORY_WAIT ||
        name->category == PPROF_CATEGORY_IDLE)
      name->waits = PPI_WAITS_THREAD;
    else if (synchronizes(model, name) || waits_for_device(model, &ends, name))
      name->waits = PPI_WAITS_DEVICE;
  }
  is_done = is_done && look_at_threads(model, names, num) &&
            ppi_model_find_inner_waits(model);
  if (is_done) mark_waits(model, &ends);
  is_done = is_done && ppi_model_find_lines(model);
  PPI_FREE_ALL(ends.works, ends.first, names);
  return is_done;
}
