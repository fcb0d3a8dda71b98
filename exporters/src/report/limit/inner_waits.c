// SPDX-License-Identifier: Apache-2.0
//
// Finds waits that inner ranges prove, and drops waits that inner work
// disproves.
#include "base/base.h"
#include "base/mem.h"
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

// Of two that work beside each other one may end first each time. So it must
// end just before the other does, or decide how long that one takes.
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
    uint32_t at = call->num == 1 ? inside_of(model, call) : PPI_NO_CALL;
    all_ns += ns;
    if (at == PPI_NO_CALL || !waits_for(model, call, at, little)) continue;
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

bool ppi_model_find_inner_waits(ppi_limit_model *model) {
  return look_at_requests(model) && let_parts_work(model);
}
