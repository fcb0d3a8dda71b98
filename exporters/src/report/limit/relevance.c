// SPDX-License-Identifier: Apache-2.0
//
// Finds which rows matter to units, which wait for their own device work, what
// larger batches save, and how much all of them compute.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"

// ---- relevance ----

static bool serves_units(const ppi_limit_model *model,
                         const ppi_limit_row *row) {
  size_t num = 0;
  for (size_t i = 0; i < row->num_outer; i++)
    num += model->calls[row->outer[i]].num > 0;
  return num > 0 && 5 * num >= row->num_outer;
}

// The part of the gaps of the thread that goes round that end at most `eps_ns`
// after an end of the row's calls. `out_usual_ns` is the length of the gap
// around an average moment in these gaps.
static double ended_gaps(const ppi_limit_model *model, const ppi_limit_row *row,
                         uint64_t eps_ns, double *out_usual_ns) {
  const uint64_t least_ns = 150000;
  const ppi_limit_row *loop = &model->rows[model->loop_thread];
  uint64_t all_ns = 0, ended_ns = 0;
  size_t at = 0;
  double squares = 0;
  for (size_t i = 1; i < loop->num_outer; i++) {
    const ppi_limit_call *before = &model->calls[loop->outer[i - 1]];
    const ppi_limit_call *behind = &model->calls[loop->outer[i]];
    if (behind->start_ns < before->end_ns + least_ns) continue;
    uint64_t gap_ns = behind->start_ns - before->end_ns;
    all_ns += gap_ns;
    squares += (double)gap_ns * (double)gap_ns;
    while (at < row->num_outer &&
           model->calls[row->outer[at]].end_ns + eps_ns < behind->start_ns)
      at++;
    if (at < row->num_outer &&
        model->calls[row->outer[at]].end_ns <= behind->start_ns)
      ended_ns += gap_ns;
  }
  *out_usual_ns = all_ns ? squares / (double)all_ns : 0;
  return all_ns ? (double)ended_ns / (double)all_ns : 0;
}

// How late these gaps end after ends of the row's calls, as threads may wake up
// late; 0: the row's calls end no gaps.
static uint64_t ends_gaps(const ppi_limit_model *model,
                          const ppi_limit_row *row) {
  const double most_of_gap = 0.42, least = 0.5, above_chance = 0.35;
  double rate = (double)row->num_outer / (double)PPI_MAX(model->span_ns, 1);
  for (size_t i = 1; i < PPI_NUM_SLACKS; i++) {
    double usual_ns, eps_ns = (double)ppi_slacks_ns[i];
    double part = ended_gaps(model, row, ppi_slacks_ns[i], &usual_ns);
    bool is_soon = i == 1;
    double chance = is_soon ? 0 : 1 - exp(-eps_ns * rate);
    if (!is_soon && eps_ns > most_of_gap * usual_ns) return 0;
    if (part >= least && (is_soon || part - chance >= above_chance))
      return ppi_slacks_ns[i];
  }
  return 0;
}

// Whether waits of the thread that goes round wait for a name on the row.
static bool ends_waits(const ppi_limit_model *model, uint32_t row) {
  for (size_t i = 0; i < model->num_names; i++) {
    const ppi_limit_name *name = &model->names[i];
    if (name->waits != PPI_WAITS_THREAD || name->waits_for == PPI_NONE)
      continue;
    bool is_of_loop = false;
    for (size_t k = 0; k < name->num && !is_of_loop; k++)
      is_of_loop = model->calls[model->by_name[name->first + k]].row ==
                   model->loop_thread;
    const ppi_limit_name *other = &model->names[name->waits_for];
    for (size_t k = 0; k < other->num && is_of_loop; k++)
      if (model->calls[model->by_name[other->first + k]].row == row)
        return true;
  }
  return false;
}

// A thread without requests is relevant if one that serves them waits for it
// for half of its time, as recorded: it brings them, or what they need.
// `awaited_ns` has room for two times of each row.
static void take_awaited(ppi_limit_model *model, uint64_t *awaited_ns) {
  uint64_t *most_ns = awaited_ns + model->num_rows;
  memset(most_ns, 0, model->num_rows * sizeof *most_ns);
  for (size_t i = 0; i < model->num_rows; i++) {
    if (!model->rows[i].is_relevant || !model->rows[i].is_linked) continue;
    memset(awaited_ns, 0, model->num_rows * sizeof *awaited_ns);
    for (size_t k = 0; k < model->num_calls; k++) {
      const ppi_limit_call *call = &model->calls[k];
      uint32_t by = call->row == i && call->flags & PPI_CALL_WAIT
                        ? ppi_row_of_thread(model, call->ended_by)
                        : PPI_NONE;
      if (by == PPI_NONE) continue;
      awaited_ns[by] += ppi_call_within(model, call);
      most_ns[by] = PPI_MAX(most_ns[by], awaited_ns[by]);
    }
  }
  for (size_t i = 0; i < model->num_rows; i++)
    model->rows[i].is_relevant |= 2 * most_ns[i] >= model->time_ns;
}

bool ppi_model_find_relevant(ppi_limit_model *model) {
  uint64_t *awaited_ns =
      ppi_alloc((2 * model->num_rows + 1) * sizeof *awaited_ns);
  if (!awaited_ns) return false;
  for (size_t i = 0; i < model->num_rows; i++) {
    ppi_limit_row *row = &model->rows[i];
    if (row->is_device)
      row->is_relevant = row->occupied_ns > 0;
    else if (model->unit_kind == PPI_UNIT_REQUEST)
      row->is_relevant = serves_units(model, row);
    else if (model->loop_thread != PPI_NONE) {
      row->gap_eps_ns = ends_gaps(model, row);
      row->is_relevant = i == model->loop_thread || row->gap_eps_ns ||
                         row->is_linked || ends_waits(model, (uint32_t)i);
    }
  }
  if (model->are_linked) take_awaited(model, awaited_ns);
  for (size_t i = 0; i < model->num_rows; i++)
    if (model->rows[i].is_relevant && model->rows[i].station != PPI_NONE)
      model->stations[model->rows[i].station].is_relevant = true;
  ppi_free(awaited_ns);
  return true;
}

// ---- in turn with a device ----

// Device work by the thread that submitted it, by begin; `at` is the first work
// that may end after the latest wait asked for.
typedef struct own_works {
  uint32_t *works;
  size_t *first, *at;  // by row
} own_works;

static bool own_works_list(const ppi_limit_model *model, own_works *out) {
  out->works = ppi_alloc((model->num_works + 1) * sizeof *out->works);
  out->first = ppi_alloc((model->num_rows + 2) * sizeof *out->first);
  out->at = ppi_alloc((model->num_rows + 2) * sizeof *out->at);
  if (!out->works || !out->first || !out->at) return false;
  for (size_t i = 0; i < model->num_works; i++)
    out->first[model->calls[model->works[i].call].host + 1]++;
  for (size_t i = 0; i <= model->num_rows; i++) {
    out->first[i + 1] += out->first[i];
    out->at[i] = out->first[i];
  }
  for (size_t i = 0; i < model->num_works; i++)
    out->works[out->at[model->calls[model->works[i].call].host]++] =
        (uint32_t)i;
  memcpy(out->at, out->first, (model->num_rows + 2) * sizeof *out->at);
  return true;
}

// The time in a wait in which the device does the row's own work; the rest is
// time in line behind other work. Ask for waits in the order of their begin.
static uint64_t own_work(const ppi_limit_model *model, own_works *of,
                         uint32_t row, const ppi_interval *wait,
                         uint32_t *out_station) {
  uint64_t ns = 0, until_ns = wait->from_ns;
  size_t *at = &of->at[row], end = of->first[row + 1];
  while (*at < end && model->works[of->works[*at]].end_ns <= wait->from_ns)
    ++*at;
  for (size_t i = *at; i < end; i++) {
    const ppi_limit_work *work = &model->works[of->works[i]];
    uint64_t from_ns = PPI_MAX(work->start_ns, until_ns);
    uint64_t to_ns = PPI_MIN(work->end_ns, wait->to_ns);
    if (work->start_ns >= wait->to_ns) break;
    if (from_ns >= to_ns) continue;
    ns += ppi_model_within(model, from_ns, to_ns);
    until_ns = to_ns;
    *out_station = model->rows[model->calls[work->call].row].station;
  }
  return ns;
}

static uint64_t own_calls(const ppi_limit_model *model,
                          const ppi_limit_call *call, uint32_t *out_station) {
  ppi_inside inside[PPI_MOST_INSIDE];
  uint64_t ns = 0;
  size_t num = ppi_calls_inside(model, call, inside);
  for (size_t i = 0; i < num; i++) {
    ns += ppi_model_within(model, inside[i].from_ns, inside[i].call->end_ns);
    *out_station = model->rows[inside[i].call->row].station;
  }
  return ns;
}

// Threads that wait for work of their own on a device, or of their request on
// other threads: such a thread does nothing else meanwhile.
bool ppi_model_find_in_turn(ppi_limit_model *model) {
  own_works of = {0};
  bool is_done = own_works_list(model, &of);
  for (size_t i = 0; is_done && i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!ppi_call_is_on_thread(call) ||
        !ppi_call_is_top_wait(model, (uint32_t)i))
      continue;
    uint32_t station = model->rows[call->row].station;
    if (station == PPI_NONE) continue;
    uint32_t part = ppi_call_part(model, (uint32_t)i), by = PPI_NONE;
    ppi_limit_stage *stage =
        ppi_station_stage(&model->stations[station], model->calls[part].name);
    uint64_t ns = model->names[call->name].waits == PPI_WAITS_DEVICE
                      ? own_work(model, &of, call->row, &model->waits[i], &by)
                      : own_calls(model, call, &by);
    model->stations[station].in_turn_ns += ns;
    if (!stage || !ns) continue;
    stage->in_turn_ns += ns;
    stage->awaits = by;
  }
  PPI_FREE_ALL(of.works, of.first, of.at);
  return is_done;
}

// ---- processors ----

// Counts rows that compute, if the processor time of most calls is known.
void ppi_model_find_cpu(ppi_limit_model *model) {
  uint64_t cpu_ns = 0, queued_ns = 0, length_ns = 0;
  size_t num = 0, known = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!ppi_call_is_on_thread(call) || call->parent != PPI_NO_CALL ||
        !model->rows[call->row].is_relevant)
      continue;
    double part = call->end_ns > call->start_ns
                      ? (double)ppi_call_within(model, call) /
                            (double)(call->end_ns - call->start_ns)
                      : 0;
    num++;
    known += (call->flags & PPI_CALL_CPU) != 0;
    length_ns += ppi_call_within(model, call);
    cpu_ns += (uint64_t)(part * (double)call->cpu_ns);
    queued_ns += (uint64_t)(part * (double)call->queued_ns);
    model->rows[call->row].cpu_ns += (uint64_t)(part * (double)call->cpu_ns);
  }
  model->cpu = model->queued = -1;
  if (!num || 10 * known < 9 * num || !model->time_ns) return;
  model->cpu = (double)cpu_ns / (double)model->time_ns;
  model->queued = length_ns ? (double)queued_ns / (double)length_ns : 0;
}

// ---- batches ----

// The time of calls that does not grow with the number of their units: least
// squares.
static double fixed_ns(const ppi_fit *of) {
  const double least_units = 1.1;
  double xx = of->num > 0 ? of->xx - of->x * of->x / of->num : 0;
  if (xx <= 0 || of->x < least_units * of->num) return 0;
  double slope = (of->xy - of->x * of->y / of->num) / xx;
  return PPI_MIN(PPI_MAX(of->y - slope * of->x, 0), of->y);
}

// `fits`, by name, are all zero on entry and on return.
static void find_batches(const ppi_limit_model *model, ppi_station *station,
                         ppi_fit *fits) {
  double ns = 0;
  for (size_t i = 0; i < station->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[station->rows[i]];
    for (size_t k = 0; k < row->num_parts; k++) {
      const ppi_limit_call *call = &model->calls[row->parts[k]];
      uint64_t working_ns = model->working_ns[row->parts[k]];
      if (working_ns && call->num)
        ppi_fit_add(&fits[call->name], call->num, (double)working_ns);
    }
  }
  for (size_t i = 0; i < station->num_stages; i++) {
    ppi_fit *of = &fits[station->stages[i].name];
    ns += fixed_ns(of);
    *of = (ppi_fit){0};
  }
  if (station->working_ns)
    station->batches_save = PPI_MIN(ns / (double)station->working_ns, 1);
}

bool ppi_model_find_batches(ppi_limit_model *model) {
  ppi_fit *fits = ppi_alloc((model->num_names + 1) * sizeof *fits);
  for (size_t i = 0; fits && i < model->num_stations; i++)
    find_batches(model, &model->stations[i], fits);
  ppi_free(fits);
  return fits != NULL;
}
