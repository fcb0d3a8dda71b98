// SPDX-License-Identifier: Apache-2.0
//
// Chooses stages. A stage is an outermost call, unless inner calls take most of
// its time: then those are stages, and the rest is its own. That holds only
// beside other outermost calls, as many small stages need a large one to
// compare with.
#include "report/limit/find.h"

#include "base/base.h"
#include "base/mem.h"

static bool waits(const ppi_limit_model *model, uint32_t call) {
  return model->waits[call].to_ns > model->waits[call].from_ns;
}

bool ppi_call_is_top_wait(const ppi_limit_model *model, uint32_t at) {
  if (!waits(model, at)) return false;
  for (at = model->calls[at].parent; at != PPI_NO_CALL;
       at = model->calls[at].parent)
    if (waits(model, at)) return false;
  return true;
}

// Whether the call may be a stage of its outermost call.
static bool may_be_part(const ppi_limit_model *model,
                        const ppi_limit_call *call) {
  if (!ppi_call_is_on_thread(call) || call->parent == PPI_NO_CALL) return false;
  const ppi_limit_name *name = &model->names[call->name];
  return model->calls[call->parent].parent == PPI_NO_CALL &&
         model->calls[call->parent].name != call->name &&
         name->category != PPROF_CATEGORY_RUNTIME &&
         name->waits == PPI_WAITS_NOT;
}

// By name.
typedef struct inner {
  double ns;         // time of parts of its outermost calls
  double most_ns;    // the greatest part under one name
  double beside_ns;  // time of outermost calls on its rows
  double part_ns;    // its time as a part of others
} inner;

static inner *inner_times(const ppi_limit_model *model) {
  inner *of = ppi_alloc((model->num_names + 1) * sizeof *of);
  for (size_t i = 0; of && i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    double ns = (double)(call->end_ns - call->start_ns);
    if (!may_be_part(model, call)) continue;
    inner *part = &of[call->name];
    part->part_ns += ns;
    inner *around = &of[model->calls[call->parent].name];
    around->ns += ns;
    around->most_ns = PPI_MAX(around->most_ns, part->part_ns);
  }
  for (size_t i = 0; of && i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    double ns = 0;
    for (size_t k = 0; k < row->num_outer; k++)
      ns += (double)(model->calls[row->outer[k]].end_ns -
                     model->calls[row->outer[k]].start_ns);
    for (size_t k = 0; k < row->num_outer; k++) {
      inner *outer = &of[model->calls[row->outer[k]].name];
      outer->beside_ns = PPI_MAX(outer->beside_ns, ns);
    }
  }
  return of;
}

static bool is_divided(const ppi_limit_model *model, const inner *inner_ns,
                       uint32_t call) {
  const double alone = 0.8;
  uint32_t at = model->calls[call].name;
  const ppi_limit_name *name = &model->names[at];
  const inner *of = &inner_ns[at];
  double time_ns = (double)name->time_ns;
  return name->waits == PPI_WAITS_NOT && 2 * of->ns >= time_ns &&
         (2 * of->most_ns >= time_ns || time_ns >= alone * of->beside_ns);
}

static bool is_part(const ppi_limit_model *model, const inner *inner_ns,
                    uint32_t at) {
  const ppi_limit_call *call = &model->calls[at];
  if (call->flags & PPI_CALL_DEVICE) return true;
  if (!ppi_call_is_on_thread(call)) return false;
  if (call->parent == PPI_NO_CALL) return true;
  if (model->names[call->name].has_places) return true;
  return may_be_part(model, call) && is_divided(model, inner_ns, call->parent);
}

uint32_t ppi_call_part(const ppi_limit_model *model, uint32_t at) {
  while (!(model->calls[at].flags & PPI_CALL_PART) &&
         model->calls[at].parent != PPI_NO_CALL)
    at = model->calls[at].parent;
  return at;
}

static bool list_parts(ppi_limit_model *model, const inner *inner_ns) {
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[i];
    if (!is_part(model, inner_ns, (uint32_t)i)) continue;
    call->flags |= PPI_CALL_PART;
    model->rows[call->row].num_parts++;
  }
  for (size_t i = 0; i < model->num_rows; i++) {
    ppi_limit_row *row = &model->rows[i];
    row->parts = ppi_alloc((row->num_parts + 1) * sizeof *row->parts);
    if (!row->parts) return false;
    row->num_parts = 0;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_row *row = &model->rows[model->calls[i].row];
    if (model->calls[i].flags & PPI_CALL_PART)
      row->parts[row->num_parts++] = (uint32_t)i;
  }
  return true;
}

static void take(uint64_t *from_ns, uint64_t ns) {
  *from_ns -= PPI_MIN(ns, *from_ns);
}

static void measure_parts(ppi_limit_model *model) {
  uint64_t *times = model->working_ns;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_PART)) continue;
    times[i] = ppi_call_within(model, call);
    if (call->flags & PPI_CALL_DEVICE && call->end_ns > call->start_ns)
      times[i] = (uint64_t)((double)times[i] * (double)call->work_ns /
                            (double)(call->end_ns - call->start_ns));
    else if (!(call->flags & PPI_CALL_DEVICE) && call->parent != PPI_NO_CALL)
      take(&times[ppi_call_part(model, call->parent)], times[i]);
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    uint32_t at = (uint32_t)i;
    if (!ppi_call_is_on_thread(&model->calls[i]) ||
        !ppi_call_is_top_wait(model, at))
      continue;
    take(&times[ppi_call_part(model, at)],
         ppi_model_within(model, model->waits[i].from_ns,
                          model->waits[i].to_ns));
  }
}

bool ppi_model_find_stages(ppi_limit_model *model) {
  inner *inner_ns = inner_times(model);
  model->working_ns =
      ppi_alloc((model->num_calls + 1) * sizeof *model->working_ns);
  bool is_done = inner_ns && model->working_ns && list_parts(model, inner_ns);
  if (is_done) measure_parts(model);
  ppi_free(inner_ns);
  return is_done;
}
