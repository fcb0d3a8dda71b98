// SPDX-License-Identifier: Apache-2.0
//
// Finds the calls of a thread at a time, or while another thread waited for it.
#include "report/limit/row_calls.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/limit/find.h"
#include "report/limit/walk.h"

double ppi_window_time(const ppi_limit_model *model, uint64_t from_ns,
                       uint64_t to_ns) {
  from_ns = PPI_MAX(from_ns, model->from_ns);
  to_ns = PPI_MIN(to_ns, model->to_ns);
  return to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
}

bool ppi_row_calls_list(const ppi_limit_model *model, ppi_row_calls *out) {
  out->calls = ppi_alloc((model->num_calls + 1) * sizeof *out->calls);
  out->first = ppi_alloc((model->num_rows + 2) * sizeof *out->first);
  if (!out->calls || !out->first) return false;
  // Shifted by one: filling moves each index to its final value.
  size_t *next = out->first + 1;
  for (size_t i = 0; i < model->num_calls; i++)
    if (ppi_call_is_on_row(&model->calls[i]) &&
        model->calls[i].row + 1 < model->num_rows)
      next[model->calls[i].row + 1]++;
  for (size_t i = 1; i < model->num_rows; i++) next[i] += next[i - 1];
  for (size_t i = 0; i < model->num_calls; i++)
    if (ppi_call_is_on_row(&model->calls[i]))
      out->calls[next[model->calls[i].row]++] = (uint32_t)i;
  return true;
}

uint32_t ppi_row_calls_at(const ppi_limit_model *model, const ppi_row_calls *of,
                          uint32_t row, uint64_t at_ns, uint64_t *until_ns) {
  const uint32_t *list = of->calls + of->first[row];
  size_t num = of->first[row + 1] - of->first[row];
  size_t begun = ppi_calls_below(model->calls, list, num, false, at_ns + 1);
  *until_ns = begun < num ? model->calls[list[begun]].start_ns : UINT64_MAX;
  uint32_t call = begun ? list[begun - 1] : PPI_NO_CALL;
  while (call != PPI_NO_CALL && model->calls[call].end_ns <= at_ns)
    call = model->calls[call].parent;
  if (call != PPI_NO_CALL)
    *until_ns = PPI_MIN(*until_ns, model->calls[call].end_ns);
  return call;
}

uint32_t ppi_row_of_thread(const ppi_limit_model *model, uint32_t tid) {
  const ppi_map_key key = {0, tid};
  size_t at = tid ? ppi_map_find(&model->ids->known_threads, key) : SIZE_MAX;
  return at < model->ids->num_threads ? (uint32_t)at : PPI_NONE;
}

void ppi_row_calls_blame(const ppi_limit_model *model, const ppi_row_calls *of,
                         uint32_t row, ppi_interval held, double *times_ns) {
  uint64_t until_ns;
  for (uint64_t at = held.from_ns; at < held.to_ns; at = until_ns) {
    uint32_t call = ppi_row_calls_at(model, of, row, at, &until_ns);
    until_ns = PPI_MIN(until_ns, held.to_ns);
    double ns = ppi_window_time(model, at, until_ns);
    if (call != PPI_NO_CALL) times_ns[model->calls[call].name] += ns;
    times_ns[model->num_names + row] += ns;
  }
}

void ppi_row_calls_clear(ppi_row_calls *of) {
  ppi_free(of->calls);
  ppi_free(of->first);
}

size_t ppi_calls_inside(const ppi_limit_model *model,
                        const ppi_limit_call *call, ppi_inside *out) {
  size_t num = 0;
  uint64_t until_ns = call->start_ns;
  if (model->unit_kind != PPI_UNIT_REQUEST || call->num != 1) return 0;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  for (size_t i = 0; i < unit->num && unit->num <= PPI_MOST_INSIDE; i++) {
    const ppi_limit_call *other =
        &model->calls[model->unit_calls[unit->first + i]];
    uint64_t from_ns = PPI_MAX(other->start_ns, until_ns);
    if (other->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE) ||
        other->row == call->row || other->start_ns < call->start_ns ||
        other->end_ns > call->end_ns || from_ns >= other->end_ns)
      continue;
    out[num++] = (ppi_inside){other, from_ns};
    until_ns = other->end_ns;
  }
  return num;
}

bool ppi_call_gives_up(const ppi_limit_model *model, const ppi_limit_call *call,
                       uint32_t name) {
  if (model->unit_kind != PPI_UNIT_REQUEST || call->num != 1) return false;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  bool is_later = false;
  for (size_t i = 0; i < unit->num; i++) {
    const ppi_limit_call *other =
        &model->calls[model->unit_calls[unit->first + i]];
    if (other->name != name || other->end_ns <= call->start_ns) continue;
    if (other->start_ns < call->end_ns) return false;
    is_later = true;
  }
  return is_later;
}

// ---- what recorded waits wait for ----

enum { MOST_HOPS = 8 };

// Follows a waiting thread to the one that ends its wait, a limited number of
// times.
static void await(const ppi_limit_model *model, const ppi_row_calls *of,
                  uint32_t wait, ppi_interval in, int hops, double *times_ns) {
  const ppi_limit_call *call = &model->calls[wait];
  uint32_t row = ppi_row_of_thread(model, call->ended_by);
  uint64_t until_ns = in.to_ns;
  if (row == call->row || !hops) row = PPI_NONE;
  for (uint64_t at = in.from_ns; at < in.to_ns; at = until_ns) {
    uint32_t other = PPI_NO_CALL;
    if (row != PPI_NONE)
      other = ppi_row_calls_at(model, of, row, at, &until_ns);
    until_ns = PPI_MIN(until_ns, in.to_ns);
    if (other != PPI_NO_CALL && model->calls[other].flags & PPI_CALL_WAIT)
      await(model, of, other, (ppi_interval){at, until_ns}, hops - 1, times_ns);
    else
      times_ns[other == PPI_NO_CALL ? call->name : model->calls[other].name] +=
          (double)ppi_model_within(model, at, until_ns);
  }
}

void ppi_row_calls_await(const ppi_limit_model *model, const ppi_row_calls *of,
                         uint32_t wait, ppi_interval in, double *times_ns) {
  const ppi_limit_call *call = &model->calls[wait];
  await(model, of, wait,
        (ppi_interval){PPI_MAX(call->start_ns, in.from_ns),
                       PPI_MIN(call->end_ns, in.to_ns)},
        MOST_HOPS, times_ns);
}

uint64_t ppi_row_calls_await_inside(const ppi_limit_model *model,
                                    const ppi_row_calls *of, uint32_t row,
                                    ppi_interval in, double *times_ns) {
  const uint32_t *list = of->calls + of->first[row];
  size_t num = of->first[row + 1] - of->first[row];
  uint64_t ns = 0;
  for (size_t i = ppi_calls_below(model->calls, list, num, false, in.from_ns);
       i < num && model->calls[list[i]].start_ns < in.to_ns; i++) {
    const ppi_limit_call *call = &model->calls[list[i]];
    uint32_t by = ppi_row_of_thread(model, call->ended_by);
    if (!(call->flags & PPI_CALL_WAIT) || by == PPI_NONE || by == row ||
        !ppi_call_is_top_wait(model, list[i]))
      continue;
    ns += PPI_MIN(call->end_ns, in.to_ns) - call->start_ns;
    ppi_row_calls_await(model, of, list[i], in, times_ns);
  }
  return ns;
}

// The range with most of the awaited time.
static uint32_t awaited(const ppi_limit_model *model, const ppi_row_calls *of,
                        uint32_t at, double *times_ns) {
  const ppi_limit_name *name = &model->names[at];
  memset(times_ns, 0, model->num_names * sizeof *times_ns);
  for (size_t i = 0; i < name->num; i++)
    ppi_row_calls_await(model, of, model->by_name[name->first + i],
                        ppi_row_calls_all, times_ns);
  uint32_t best = ppi_limit_greatest(times_ns, model->num_names);
  return best != PPI_NONE && model->names[best].is_recorded ? PPI_NONE : best;
}

bool ppi_model_find_awaited(ppi_limit_model *model) {
  ppi_row_calls of = {NULL, NULL};
  double *times_ns = ppi_alloc((model->num_names + 1) * sizeof *times_ns);
  bool is_done = times_ns && ppi_row_calls_list(model, &of);
  for (size_t i = 0; is_done && i < model->num_names; i++)
    if (model->names[i].is_recorded)
      model->names[i].waits_for = awaited(model, &of, (uint32_t)i, times_ns);
  ppi_row_calls_clear(&of);
  ppi_free(times_ns);
  return is_done;
}

// ---- a row at a time ----

size_t ppi_row_place(const ppi_limit_model *model, const ppi_limit_row *row,
                     uint64_t time_ns) {
  return ppi_calls_below(model->calls, row->outer, row->num_outer, true,
                         time_ns + 1);
}

bool ppi_row_is_taken(const ppi_limit_model *model, const ppi_limit_row *row,
                      uint64_t time_ns, uint32_t *out_last) {
  size_t at = ppi_row_place(model, row, time_ns);
  bool is_taken =
      at < row->num_outer && model->calls[row->outer[at]].start_ns <= time_ns;
  if (!is_taken) at--;
  *out_last = at < row->num_outer ? row->outer[at] : PPI_NO_CALL;
  return is_taken;
}
