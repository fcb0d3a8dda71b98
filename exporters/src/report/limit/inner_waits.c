// SPDX-License-Identifier: Apache-2.0
//
// Finds waits that inner ranges prove, and drops waits that inner work
// disproves.
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/find.h"
#include "report/limit/walk.h"

enum { SAMPLES = 400, LEAST_CALLS = 5 };
static const double waiting_part = 0.6;

// ---- for a range of the same request ----

// The call of the same request on another thread that lies inside `call` and
// ends last; PPI_NO_CALL: none.
static uint32_t inside_of(const ppi_limit_model *model,
                          const ppi_limit_call *call) {
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  uint32_t last = PPI_NO_CALL;
  for (size_t i = 0; i < unit->num; i++) {
    uint32_t at = model->unit_calls[unit->first + i];
    const ppi_limit_call *other = &model->calls[at];
    bool is_inside = !(other->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE)) &&
                     other->row != call->row &&
                     other->start_ns >= call->start_ns &&
                     other->end_ns <= call->end_ns;
    if (is_inside &&
        (last == PPI_NO_CALL || other->end_ns > model->calls[last].end_ns))
      last = at;
  }
  return last;
}

// Whether the call waits for `other` inside it: until a little before the call
// ends, `other` runs or its thread is taken.
static bool waits_for(const ppi_limit_model *model, const ppi_limit_call *call,
                      uint32_t at, double most_behind) {
  const ppi_limit_call *other = &model->calls[at];
  const ppi_limit_row *row = &model->rows[other->row];
  double length_ns = (double)(call->end_ns - call->start_ns);
  double covered_ns = (double)(other->end_ns - other->start_ns);
  for (size_t k = ppi_row_place(model, row, call->start_ns);
       k < row->num_outer && row->outer[k] != at; k++) {
    const ppi_limit_call *before = &model->calls[row->outer[k]];
    covered_ns +=
        (double)(before->end_ns - PPI_MAX(before->start_ns, call->start_ns));
  }
  return (double)(call->end_ns - other->end_ns) <= most_behind * length_ns &&
         covered_ns >= waiting_part * length_ns;
}

// The next call of the name by the same request on the same thread.
static uint32_t made_again(const ppi_limit_model *model,
                           const ppi_limit_name *name, size_t *at) {
  enum { MOST_LOOKS = 64 };
  const uint32_t *calls = &model->by_name[name->first];
  const ppi_limit_call *call = &model->calls[calls[*at]];
  for (size_t i = *at + 1; i < name->num && i < *at + MOST_LOOKS; i++) {
    const ppi_limit_call *next = &model->calls[calls[i]];
    if (next->row != call->row) continue;
    if (next->num != 1 ||
        model->units_of[next->first] != model->units_of[call->first])
      return PPI_NO_CALL;
    *at = i;
    return calls[i];
  }
  return PPI_NO_CALL;
}

// The call that the name's call `*at` waits for. One that gave up waits for
// what it waits for when it is made again, which is `*at` then.
static uint32_t awaited_inside(const ppi_limit_model *model,
                               const ppi_limit_name *name, double most_behind,
                               size_t *at) {
  enum { MOST_TIMES = 16 };
  uint32_t call = model->by_name[name->first + *at];
  for (int i = 0; i < MOST_TIMES && call != PPI_NO_CALL; i++) {
    if (model->calls[call].num != 1) return PPI_NO_CALL;
    uint32_t found = inside_of(model, &model->calls[call]);
    if (found != PPI_NO_CALL &&
        waits_for(model, &model->calls[call], found, most_behind))
      return found;
    call = made_again(model, name, at);
  }
  return PPI_NO_CALL;
}

// Two independent calls may always end in the same order by chance. So a wait's
// end must follow at once, or the lengths must correlate.
static bool decides(const ppi_fit *lengths) {
  const double least_correlation = 0.6;
  return ppi_fit_correlation(lengths) >= least_correlation;
}

// `times_ns`, by name, is all zero on entry and on return.
static void look_inside(const ppi_limit_model *model, ppi_limit_name *name,
                        double *times_ns) {
  const double just = 0.05, little = 0.15;
  uint32_t found[SAMPLES + 1], best = PPI_NONE;
  ppi_fit lengths = {0};
  size_t num = 0;
  double all_ns = 0, just_ns = 0;
  for (size_t i = 0; i < name->num && num < SAMPLES; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (!ppi_is_sampled(i, name->num, SAMPLES)) continue;
    double ns =
        (double)PPI_MIN(call->end_ns - call->start_ns, 4 * name->median_ns + 1);
    size_t last = i;
    uint32_t at = awaited_inside(model, name, little, &last);
    call = &model->calls[model->by_name[name->first + last]];
    all_ns += ns;
    if (at == PPI_NO_CALL) continue;
    const ppi_limit_call *other = &model->calls[at];
    ppi_fit_add(&lengths, (double)(other->end_ns - other->start_ns),
                (double)(call->end_ns - call->start_ns));
    if (waits_for(model, call, at, just)) just_ns += ns;
    found[num] = model->calls[at].name;
    times_ns[found[num]] += ns;
    if (best == PPI_NONE || times_ns[found[num]] > times_ns[best])
      best = found[num];
    num++;
  }
  bool waits = best != PPI_NONE && times_ns[best] >= waiting_part * all_ns &&
               (just_ns >= waiting_part * all_ns || decides(&lengths));
  for (size_t i = 0; i < num; i++) times_ns[found[i]] = 0;
  if (!waits) return;
  name->waits = PPI_WAITS_THREAD;
  name->waits_for = best;
}

static bool look_at_requests(ppi_limit_model *model) {
  double *times_ns = ppi_alloc((model->num_names + 1) * sizeof *times_ns);
  bool has_requests = model->unit_kind == PPI_UNIT_REQUEST;
  for (size_t i = 0; times_ns && has_requests && i < model->num_names; i++) {
    ppi_limit_name *name = &model->names[i];
    if (name->waits == PPI_WAITS_NOT && name->num >= LEAST_CALLS)
      look_inside(model, name, times_ns);
  }
  ppi_free(times_ns);
  return times_ns != NULL;
}

// ---- ranges that work inside ----

// A range does not wait if working ranges inside it take most of its time.
static bool let_parts_work(ppi_limit_model *model) {
  double *works_ns = ppi_alloc((model->num_names + 1) * sizeof *works_ns);
  for (size_t i = 0; works_ns && i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & PPI_CALL_DEVICE || call->parent == PPI_NO_CALL ||
        model->names[call->name].waits != PPI_WAITS_NOT)
      continue;
    works_ns[model->calls[call->parent].name] +=
        (double)(call->end_ns - call->start_ns);
  }
  for (size_t i = 0; works_ns && i < model->num_names; i++) {
    ppi_limit_name *name = &model->names[i];
    if (name->waits != PPI_WAITS_THREAD || name->waits_for == PPI_NONE ||
        works_ns[i] <= (1 - waiting_part) * (double)name->time_ns)
      continue;
    name->waits = PPI_WAITS_NOT;
    name->waits_for = PPI_NONE;
  }
  ppi_free(works_ns);
  return works_ns != NULL;
}

// ---- for a place of a range inside ----

// Calls of one name by begin, and their ends in order. Only `places` of them
// are open at a time.
typedef struct line {
  const ppi_limit_model *model;
  const uint32_t *calls;
  size_t num, places;
  uint64_t *ends;
  uint64_t *full_ns;  // when all places were taken, until the call began; 0: it
                      // found a place free
  uint64_t *before_ns;  // by call: the end of the call before it in its parent
  uint8_t *waits;       // by call: it has a wait, or a call inside it
  uint64_t *own_ns;
  ppi_border *borders;
} line;

static bool may_stand(const line *of, const ppi_limit_call *call) {
  return call->parent != PPI_NO_CALL && !of->waits[call->parent] &&
         ppi_call_is_on_thread(&of->model->calls[call->parent]) &&
         of->model->calls[call->parent].name != call->name;
}

// False: no other range is around the calls, or each thread may be in one.
// Hooks record the first calls of a function on no thread.
static bool list_line(line *of, const ppi_limit_name *name) {
  const ppi_limit_model *model = of->model;
  size_t inside = 0, outside = 0, rows = 0, num = 0;
  of->calls = &model->by_name[name->first];
  of->num = name->num;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[of->calls[i]];
    outside += !ppi_call_is_on_thread(call);
    inside += may_stand(of, call);
    of->ends[i] = call->end_ns;
    of->own_ns[i] = call->row;
    of->borders[num++] = ppi_begin_border(call->start_ns);
    of->borders[num++] = ppi_end_border(call->end_ns);
  }
  if (2 * inside < of->num || 10 * outside > of->num) return false;
  ppi_sort_numbers(of->ends, of->num);
  ppi_sort_numbers(of->own_ns, of->num);
  for (size_t i = 0; i < of->num; i++)
    rows += !i || of->own_ns[i] != of->own_ns[i - 1];
  if (rows < 2) return false;
  of->places = ppi_most_at_once(model, of->borders, num);
  return of->places && of->places < rows;
}

// A call in line begins as soon as a place is free: when the call `places`
// before it has ended. Most calls must do so.
static bool is_line(line *of, const ppi_limit_name *name) {
  const uint64_t soon_ns = name->median_ns / of->places / 5;
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++) {
    uint64_t start_ns = of->model->calls[of->calls[i]].start_ns;
    uint64_t free_ns = i < of->places ? 0 : of->ends[i - of->places];
    bool stood =
        free_ns && free_ns <= start_ns && start_ns <= free_ns + soon_ns;
    of->full_ns[i] = 0;
    if (!stood) continue;
    of->full_ns[i] = of->full_ns[i - 1]
                         ? of->full_ns[i - 1]
                         : of->model->calls[of->calls[i - 1]].start_ns;
    num++;
  }
  return (double)num >= waiting_part * (double)of->num;
}

static uint64_t begin_before(const line *of, size_t i) {
  const ppi_limit_call *call = &of->model->calls[of->calls[i]];
  return PPI_MAX(of->before_ns[of->calls[i]],
                 of->model->calls[call->parent].start_ns);
}

// The work of the outer range before it stands in line: its length where a
// place was free when it came, else the least of all.
static uint64_t work_before(const line *of) {
  size_t num = 0;
  uint64_t least_ns = UINT64_MAX;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &of->model->calls[of->calls[i]];
    if (!may_stand(of, call)) continue;
    uint64_t ns = call->start_ns - begin_before(of, i);
    least_ns = PPI_MIN(least_ns, ns);
    uint64_t free_ns = i < of->places ? 0 : of->ends[i - of->places];
    if (!of->full_ns[i] && free_ns <= begin_before(of, i))
      of->own_ns[num++] = ns;
  }
  ppi_sort_numbers(of->own_ns, num);
  return num ? ppi_quantile_of(of->own_ns, num, 0.5) : least_ns;
}

// Several waits of one call count as one before the last range inside.
static void put_lines(const line *of, ppi_limit_model *model, uint32_t name) {
  uint64_t own_ns = work_before(of);
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = &model->calls[of->calls[i]];
    if (!may_stand(of, call) || !of->full_ns[i]) continue;
    uint64_t from_ns = PPI_MAX(begin_before(of, i) + own_ns, of->full_ns[i]);
    ppi_interval *wait = &model->waits[call->parent];
    if (from_ns >= call->start_ns) continue;
    from_ns -= PPI_MIN(wait->to_ns - wait->from_ns,
                       from_ns - model->calls[call->parent].start_ns);
    *wait = (ppi_interval){from_ns, call->start_ns};
    model->names[model->calls[call->parent].name].in_line_for = name;
    model->names[name].has_places = true;
  }
}

static void look_around(const line *of) {
  const ppi_limit_model *model = of->model;
  uint64_t *ends = of->full_ns;
  memset(ends, 0, model->num_calls * sizeof *ends);
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    bool waits = model->waits[i].to_ns > model->waits[i].from_ns;
    for (uint32_t at = (uint32_t)i; waits && at != PPI_NO_CALL;
         at = model->calls[at].parent)
      of->waits[at] = 1;
    if (!ppi_call_is_on_row(call) || call->parent == PPI_NO_CALL) continue;
    of->before_ns[i] = ends[call->parent];
    ends[call->parent] = PPI_MAX(ends[call->parent], call->end_ns);
  }
}

bool ppi_model_find_lines(ppi_limit_model *model) {
  const size_t num = model->num_calls + 1;
  line of = {.model = model,
             .ends = ppi_alloc(num * sizeof(uint64_t)),
             .full_ns = ppi_alloc(num * sizeof(uint64_t)),
             .before_ns = ppi_alloc(num * sizeof(uint64_t)),
             .own_ns = ppi_alloc(num * sizeof(uint64_t)),
             .waits = ppi_alloc(num),
             .borders = ppi_alloc(2 * num * sizeof(ppi_border))};
  bool is_done = of.ends && of.full_ns && of.before_ns && of.own_ns &&
                 of.waits && of.borders;
  if (is_done) look_around(&of);
  for (size_t i = 0; i < model->num_names && is_done; i++) {
    const ppi_limit_name *name = &model->names[i];
    if (name->num >= LEAST_CALLS && name->waits == PPI_WAITS_NOT &&
        !ppi_name_mostly_waits(name) &&
        name->category != PPROF_CATEGORY_RUNTIME && list_line(&of, name) &&
        is_line(&of, name))
      put_lines(&of, model, (uint32_t)i);
  }
  PPI_FREE_ALL(of.ends, of.full_ns, of.before_ns, of.own_ns, of.waits,
               of.borders);
  return is_done;
}

bool ppi_model_find_inner_waits(ppi_limit_model *model) {
  return look_at_requests(model) && let_parts_work(model);
}
