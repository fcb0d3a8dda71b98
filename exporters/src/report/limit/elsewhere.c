// SPDX-License-Identifier: Apache-2.0
//
// Finds servers on no thread of the run: ranges in which requests stand in line
// for a limited number of places.
#include <math.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/find.h"
#include "report/limit/walk.h"

enum { LEAST_JOBS = 40, MOST_PLACES = 32 };

// The calls of one name by begin, and their ends in order.
typedef struct jobs {
  const ppi_limit_call **calls;
  uint64_t *ends;
  size_t num;
} jobs;

// Whether another call of the same request lies inside the call: it is a part
// of the request, and no place where the request is.
static bool has_inner(const ppi_limit_model *model,
                      const ppi_limit_call *call) {
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  const uint32_t *calls = &model->unit_calls[unit->first];  // by begin
  size_t at =
      ppi_calls_below(model->calls, calls, unit->num, false, call->start_ns);
  for (; at < unit->num; at++) {
    const ppi_limit_call *other = &model->calls[calls[at]];
    if (other->start_ns > call->end_ns) return false;
    if (other != call && other->end_ns <= call->end_ns) return true;
  }
  return false;
}

static bool list_jobs(const ppi_limit_model *model, const ppi_limit_name *name,
                      jobs *out) {
  out->calls = ppi_alloc((name->num + 1) * sizeof *out->calls);
  out->ends = ppi_alloc((name->num + 1) * sizeof *out->ends);
  if (!out->calls || !out->ends) return false;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    bool has_request = model->unit_kind == PPI_UNIT_REQUEST;
    if (!(call->flags & PPI_CALL_LOOSE) ||
        (has_request && (call->num != 1 || has_inner(model, call))))
      continue;
    out->calls[out->num] = call;
    out->ends[out->num++] = call->end_ns;
  }
  ppi_sort_numbers(out->ends, out->num);
  return true;
}

// First come, first served: a job with `places` before it begins once these are
// done.
static uint64_t served_from(const jobs *of, size_t at, size_t places) {
  uint64_t from_ns = of->calls[at]->start_ns;
  return at >= places ? PPI_MAX(from_ns, of->ends[at - places]) : from_ns;
}

// The spread of service times with so many places: variance by squared mean.
// INFINITY: some calls end before they would begin.
static double spread(const jobs *of, size_t places) {
  double sum = 0, squares = 0, num = (double)of->num;
  size_t before = 0;
  for (size_t i = 0; i < of->num; i++) {
    uint64_t from_ns = served_from(of, i, places);
    uint64_t end_ns = of->calls[i]->end_ns;
    double ns = end_ns > from_ns ? (double)(end_ns - from_ns) : 0;
    before += end_ns <= from_ns;
    sum += ns;
    squares += ns * ns;
  }
  if (50 * before > of->num || sum <= 0) return INFINITY;
  return num * squares / (sum * sum) - 1;
}

// The number of places that makes service times alike; 0: there is none, as
// calls without any line are about as alike. Where requests always stand in
// line, multiples of the number make them more alike: the least one counts.
static size_t count_places(const jobs *of) {
  const double far_less = 0.35, about = 4;
  double spreads[MOST_PLACES + 1], least = INFINITY;
  size_t num = PPI_MIN((size_t)MOST_PLACES, of->num - 1);
  for (size_t places = 1; places <= num; places++) {
    spreads[places] = spread(of, places);
    least = PPI_MIN(least, spreads[places]);
  }
  if (least >= far_less * spread(of, of->num)) return 0;
  for (size_t places = 1; places <= num; places++)
    if (spreads[places] <= about * least) return places;
  return 0;
}

static bool add_places(ppi_limit_model *model, uint32_t name, const jobs *of,
                       size_t places) {
  uint64_t ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = of->calls[i];
    uint64_t from_ns = PPI_MIN(served_from(of, i, places), call->end_ns);
    model->waits[call - model->calls] = (ppi_interval){call->start_ns, from_ns};
    ns += ppi_model_within(model, from_ns, call->end_ns);
  }
  return ppi_model_add_places(model, name, (uint32_t)places, ns);
}

bool ppi_model_find_elsewhere(ppi_limit_model *model) {
  bool is_done = true;
  for (size_t i = 0; i < model->num_names && is_done; i++) {
    const ppi_limit_name *name = &model->names[i];
    jobs of = {0};
    bool may_be =
        name->num >= LEAST_JOBS && name->waits == PPI_WAITS_NOT &&
        (model->calls[model->by_name[name->first]].flags &
         (PPI_CALL_LOOSE | PPI_CALL_STEP | PPI_CALL_REQUEST)) == PPI_CALL_LOOSE;
    if (!may_be || ppi_name_is_queue(model, (uint32_t)i)) continue;
    is_done = list_jobs(model, name, &of);
    size_t places = is_done && of.num >= LEAST_JOBS ? count_places(&of) : 0;
    if (places) is_done = add_places(model, (uint32_t)i, &of, places);
    ppi_free(of.calls);
    ppi_free(of.ends);
  }
  return is_done;
}
