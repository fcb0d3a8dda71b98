// SPDX-License-Identifier: Apache-2.0
//
// Finds the steady part of a run: without start, drain and outliers.
#include "report/limit/find.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

enum { FEW_UNITS = 20 };

static uint64_t *sorted_units(const ppi_limit_model *model, bool by_length) {
  uint64_t *values = ppi_alloc((model->num_units + 1) * sizeof *values);
  if (!values) return NULL;
  for (size_t i = 0; i < model->num_units; i++) {
    const ppi_limit_unit *unit = &model->units[i];
    values[i] = by_length ? unit->end_ns - unit->start_ns : unit->end_ns;
  }
  ppi_sort_numbers(values, model->num_units);
  return values;
}

// Few steps of many times the usual length count as outliers.
static bool leave_out_outliers(ppi_limit_model *model) {
  uint64_t *lengths = sorted_units(model, true);
  if (!lengths) return false;
  uint64_t most_ns =
      PPI_MAX(10 * ppi_quantile_of(lengths, model->num_units, 0.5),
              4 * ppi_quantile_of(lengths, model->num_units, 0.9));
  uint64_t outer_ns = 0, all_ns = 0;
  size_t num = 0;
  for (size_t i = 0; i < model->num_units; i++) {
    all_ns += lengths[i];
    if (lengths[i] <= most_ns) continue;
    outer_ns += lengths[i];
    num++;
  }
  ppi_free(lengths);
  if (!num || 50 * num > model->num_units || 20 * outer_ns < all_ns)
    return true;
  for (size_t i = 0; i < model->num_units; i++) {
    ppi_limit_unit *unit = &model->units[i];
    if (unit->end_ns - unit->start_ns <= most_ns) continue;
    unit->is_left_out = true;
    model->num_outliers++;
    model->outliers_ns += unit->end_ns - unit->start_ns;
    if (!ppi_intervals_add(&model->left_out, unit->start_ns, unit->end_ns))
      return false;
  }
  return true;
}

static bool choose_ends(ppi_limit_model *model) {
  uint64_t *ends = sorted_units(model, false);
  size_t num = model->num_units;
  if (!ends) return false;
  model->from_ns = UINT64_MAX;
  for (size_t i = 0; i < num; i++)
    model->from_ns = PPI_MIN(model->from_ns, model->units[i].start_ns);
  model->to_ns = num ? ends[num - 1] : 0;
  uint64_t all_ns = model->to_ns - PPI_MIN(model->from_ns, model->to_ns);
  // Units that all begin at once have no steady part.
  if (num >= FEW_UNITS &&
      2 * (ends[num - 1 - num / 20] - ends[num / 20]) >= all_ns) {
    model->from_ns = ends[num / 20];
    model->to_ns = ends[num - 1 - num / 20];
  }
  ppi_free(ends);
  return true;
}

// Imports before most requests are a part of the start, and so are the requests
// that they hold up. Answers the start's end, or 0.
static uint64_t end_of_imports(const ppi_limit_model *model) {
  uint64_t last_ns = 0, until_ns = 0;
  if (model->num_units < 2 * FEW_UNITS) return 0;
  uint64_t half_ns = model->units[model->num_units / 2].start_ns;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->end_ns <= half_ns && ppi_is_import(model->names[call->name].text))
      last_ns = PPI_MAX(last_ns, call->end_ns);
  }
  for (size_t i = 0; i < model->num_units; i++)
    if (model->units[i].start_ns < last_ns)
      until_ns = PPI_MAX(until_ns, model->units[i].end_ns);
  return until_ns > half_ns ? last_ns : PPI_MAX(until_ns, last_ns);
}

static void count_units(ppi_limit_model *model) {
  model->num_counted = 0;
  for (size_t i = 0; i < model->num_units; i++) {
    ppi_limit_unit *unit = &model->units[i];
    unit->is_left_out |=
        unit->end_ns <= model->from_ns || unit->end_ns > model->to_ns;
    model->num_counted += !unit->is_left_out;
  }
}

uint64_t ppi_model_within(const ppi_limit_model *model, uint64_t from_ns,
                          uint64_t to_ns) {
  from_ns = PPI_MAX(from_ns, model->from_ns);
  to_ns = PPI_MIN(to_ns, model->to_ns);
  if (from_ns >= to_ns) return 0;
  if (!model->left_out.num) return to_ns - from_ns;
  return to_ns - from_ns -
         (ppi_intervals_measure(&model->left_out, to_ns) -
          ppi_intervals_measure(&model->left_out, from_ns));
}

uint64_t ppi_call_within(const ppi_limit_model *model,
                         const ppi_limit_call *call) {
  return ppi_model_within(model, call->start_ns, call->end_ns);
}

bool ppi_model_find_window(ppi_limit_model *model) {
  bool are_rounds = model->unit_kind == PPI_UNIT_STEP ||
                    model->unit_kind == PPI_UNIT_ITERATION;
  if (are_rounds && !leave_out_outliers(model)) return false;
  if (!choose_ends(model) || !ppi_intervals_unite(&model->left_out))
    return false;
  if (!are_rounds)
    model->from_ns = PPI_MAX(model->from_ns, end_of_imports(model));
  count_units(model);
  model->time_ns = ppi_model_within(model, model->from_ns, model->to_ns);
  return true;
}
