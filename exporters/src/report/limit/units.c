// SPDX-License-Identifier: Apache-2.0
//
// Finds a run's units: requests, else steps, else iterations, by the pattern of
// outermost calls on one thread.
#include "report/limit/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"

enum { LEAST_UNITS = 5 };

// ---- requests ----

static bool serves_requests(const ppi_limit_call *call) {
  return call->num && !(call->flags & PPI_CALL_STEP);
}

// The numbers of a call's requests replace its flows.
static bool number_requests(ppi_limit_model *model,
                            const ppi_limit_calls *calls) {
  ppi_map map = {0};
  size_t capacity = 0;
  bool is_done = true;
  model->units_of = ppi_alloc((calls->num_flows + 1) * sizeof(uint32_t));
  if (!model->units_of) return false;
  for (size_t i = 0; i < model->num_calls && is_done; i++) {
    const ppi_limit_call *call = &model->calls[i];
    for (size_t k = 0; k < call->num && serves_requests(call); k++) {
      ppi_map_key key = {0, calls->flows[call->first + k]};
      size_t unit = ppi_map_number(&map, key);
      is_done = unit != SIZE_MAX && PPI_ROOM(model->units, capacity, map.num);
      if (!is_done) break;
      if (unit == model->num_units)
        model->units[model->num_units++] =
            (ppi_limit_unit){.start_ns = UINT64_MAX};
      model->units_of[call->first + k] = (uint32_t)unit;
    }
  }
  ppi_map_clear(&map);
  return is_done;
}

// Of nested calls for one request, the outermost one counts.
static bool is_of_requests(const ppi_limit_model *model,
                           const ppi_limit_call *call) {
  if (!serves_requests(call) || call->flags & PPI_CALL_REQUEST) return false;
  if (call->flags & PPI_CALL_DEVICE || call->parent == PPI_NO_CALL) return true;
  return !model->calls[call->parent].num;
}

// A call on no row that is as long as the request is the request itself.
static bool is_whole(const ppi_limit_model *model, const ppi_limit_call *call) {
  if (!(call->flags & PPI_CALL_LOOSE) || call->num != 1) return false;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  return call->start_ns == unit->start_ns && call->end_ns >= unit->end_ns;
}

static void bound_requests(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!serves_requests(call)) continue;
    for (size_t k = 0; k < call->num; k++) {
      ppi_limit_unit *unit = &model->units[model->units_of[call->first + k]];
      unit->start_ns = PPI_MIN(unit->start_ns, call->start_ns);
      unit->end_ns = PPI_MAX(unit->end_ns, call->end_ns);
      unit->is_left_out |= (call->flags & PPI_CALL_CUT) != 0;
    }
  }
}

static bool list_calls(ppi_limit_model *model) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!is_of_requests(model, call) || is_whole(model, call)) continue;
    for (size_t k = 0; k < call->num; k++)
      model->units[model->units_of[call->first + k]].num++;
    num += call->num;
  }
  model->unit_calls = ppi_alloc((num + 1) * sizeof(uint32_t));
  if (!model->unit_calls) return false;
  num = 0;
  for (size_t i = 0; i < model->num_units; i++) {
    model->units[i].first = num;
    num += model->units[i].num;
    model->units[i].num = 0;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!is_of_requests(model, call) || is_whole(model, call)) continue;
    for (size_t k = 0; k < call->num; k++) {
      ppi_limit_unit *unit = &model->units[model->units_of[call->first + k]];
      model->unit_calls[unit->first + unit->num++] = (uint32_t)i;
    }
  }
  return true;
}

// The next call of a call with several requests is that of the last request.
static bool chain_calls(ppi_limit_model *model) {
  model->next_call = ppi_alloc((model->num_calls + 1) * sizeof(uint32_t));
  if (!model->next_call) return false;
  for (size_t i = 0; i < model->num_calls; i++)
    model->next_call[i] = PPI_NO_CALL;
  for (size_t u = 0; u < model->num_units; u++) {
    const ppi_limit_unit *unit = &model->units[u];
    const uint32_t *of = model->unit_calls + unit->first;
    for (size_t i = 0; i + 1 < unit->num; i++) {
      const ppi_limit_call *call = &model->calls[of[i]];
      for (size_t k = i + 1; k < unit->num; k++) {
        if (model->calls[of[k]].start_ns < call->end_ns ||
            model->calls[of[k]].flags & PPI_CALL_DEVICE)
          continue;
        model->next_call[of[i]] = of[k];
        break;
      }
    }
  }
  return true;
}

static bool find_requests(ppi_limit_model *model,
                          const ppi_limit_calls *calls) {
  if (model->are_links || !number_requests(model, calls))
    return model->are_links;
  if (model->num_units < LEAST_UNITS) return true;
  model->unit_kind = PPI_UNIT_REQUEST;
  bound_requests(model);
  return list_calls(model) && chain_calls(model);
}

// ---- steps ----

static bool add_unit(ppi_limit_model *model, size_t *capacity,
                     uint64_t start_ns, uint64_t end_ns) {
  if (!PPI_ROOM(model->units, *capacity, model->num_units + 1)) return false;
  model->units[model->num_units++] =
      (ppi_limit_unit){.start_ns = start_ns, .end_ns = end_ns};
  return true;
}

static bool find_steps(ppi_limit_model *model) {
  size_t capacity = 0;
  ppi_free(model->units);
  model->units = NULL;
  model->num_units = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_STEP) || call->flags & PPI_CALL_CUT) continue;
    if (!add_unit(model, &capacity, call->start_ns, call->end_ns)) return false;
  }
  if (model->num_units >= LEAST_UNITS) model->unit_kind = PPI_UNIT_STEP;
  return true;
}

// ---- iterations ----

// Outermost calls of one name on one thread.
typedef struct tally {
  uint64_t first_ns, time_ns;
  size_t num;
  bool is_pattern, is_stage;
} tally;

// One operator that repeats is no iteration of a loop.
static bool is_operator(const ppi_limit_name *name) {
  return name->category == PPROF_CATEGORY_OPERATOR ||
         name->category == PPROF_CATEGORY_OPERATOR_INNER ||
         name->category == PPROF_CATEGORY_PYTHON_OP;
}

static void count_names(const ppi_limit_model *model, const ppi_limit_row *row,
                        tally *tallies) {
  memset(tallies, 0, model->num_names * sizeof *tallies);
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    tally *to = &tallies[call->name];
    if (!to->num++) to->first_ns = call->start_ns;
    to->time_ns += call->end_ns - call->start_ns;
  }
}

static bool is_near(size_t num, size_t count) {
  return 10 * num >= 9 * count && 10 * num <= 11 * count;
}

// Names by number of calls, each with the time of all names before it.
typedef struct counted {
  uint64_t num;
  uint64_t before_ns;
} counted;

PPI_ORDER(compare_counted, counted, PPI_UP(num))

static size_t list_counted(const ppi_limit_model *model, const tally *tallies,
                           counted *out) {
  size_t num = 0;
  uint64_t before_ns = 0;
  for (size_t i = 0; i < model->num_names; i++)
    if (tallies[i].num && ppi_name_may_be_stage(&model->names[i]))
      out[num++] = (counted){tallies[i].num, tallies[i].time_ns};
  if (num > 1) qsort(out, num, sizeof *out, compare_counted);
  for (size_t i = 0; i < num; i++) {
    uint64_t ns = out[i].before_ns;
    out[i].before_ns = before_ns;
    before_ns += ns;
  }
  out[num] = (counted){UINT64_MAX, before_ns};
  return num;
}

// The most time of names with equal numbers of calls; several names win over
// one. Answers their time and their number of calls. `room` is for all names
// and one.
static uint64_t find_count(const ppi_limit_model *model, const tally *tallies,
                           counted *room, size_t *out_num, size_t *out_count) {
  const size_t size = sizeof *room;
  uint64_t most_ns = 0;
  size_t all = list_counted(model, tallies, room);
  *out_num = *out_count = 0;
  for (size_t i = 0; i < model->num_names; i++) {
    size_t count = tallies[i].num;
    if (count < LEAST_UNITS || !ppi_name_may_be_stage(&model->names[i]))
      continue;
    size_t from = ppi_count_below(&room->num, all, size, (9 * count + 9) / 10);
    size_t to = ppi_count_below(&room->num, all, size, (11 * count + 10) / 10);
    size_t num = to - from;
    uint64_t time_ns = room[to].before_ns - room[from].before_ns;
    if (num == 1 && is_operator(&model->names[i])) continue;
    bool is_better = (num > 1) != (*out_num > 1) ? num > 1 : time_ns > most_ns;
    if (!is_better) continue;
    most_ns = time_ns;
    *out_num = num;
    *out_count = count;
  }
  return most_ns;
}

// Marks the names of the pattern. It also marks names that come seldom but
// repeatedly: they are stages of some iterations.
static uint64_t find_pattern(const ppi_limit_model *model, tally *tallies,
                             counted *room, size_t *out_num) {
  enum { LEAST_AGAIN = 3 };
  size_t count;
  uint64_t time_ns = find_count(model, tallies, room, out_num, &count);
  for (size_t i = 0; i < model->num_names && count; i++) {
    bool is_beside = !ppi_name_may_be_stage(&model->names[i]);
    tallies[i].is_pattern = !is_beside && is_near(tallies[i].num, count);
    tallies[i].is_stage =
        is_beside || tallies[i].is_pattern || tallies[i].num >= LEAST_AGAIN;
  }
  return time_ns;
}

static uint32_t first_of_pattern(const ppi_limit_model *model,
                                 const tally *tallies) {
  uint32_t first = PPI_NONE;
  for (size_t i = 0; i < model->num_names; i++)
    if (tallies[i].is_pattern &&
        (first == PPI_NONE || tallies[i].first_ns < tallies[first].first_ns))
      first = (uint32_t)i;
  return first;
}

// Calls outside the pattern are left out of the window's time. Such a call
// after the pattern's last call ends the iteration.
static bool cut_iterations(ppi_limit_model *model, const tally *tallies) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  size_t capacity = 0;
  uint64_t begin_ns = UINT64_MAX, until_ns = UINT64_MAX, end_ns = 0;
  ppi_free(model->units);
  model->units = NULL;
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    if (call->name == model->begins_loop) {
      if (begin_ns != UINT64_MAX &&
          !add_unit(model, &capacity, begin_ns,
                    PPI_MIN(until_ns, call->start_ns)))
        return false;
      begin_ns = call->start_ns;
    }
    if (tallies[call->name].is_pattern) {
      end_ns = PPI_MAX(end_ns, call->end_ns);
      until_ns = UINT64_MAX;
    }
    if (!tallies[call->name].is_stage && begin_ns != UINT64_MAX) {
      if (!ppi_intervals_add(&model->left_out, call->start_ns, call->end_ns))
        return false;
      until_ns = PPI_MIN(until_ns, call->start_ns);
      model->num_other++;
      model->other_ns += call->end_ns - call->start_ns;
    }
  }
  return begin_ns == UINT64_MAX ||
         add_unit(model, &capacity, begin_ns, PPI_MAX(end_ns, begin_ns));
}

// The thread with the most calls of the range that the user names as a turn's
// begin.
static void choose_named(ppi_limit_model *model, const char *begins,
                         tally *tallies) {
  size_t most = 0;
  for (size_t i = 0; i < model->num_rows; i++) {
    if (model->rows[i].is_device) continue;
    count_names(model, &model->rows[i], tallies);
    for (size_t k = 0; k < model->num_names; k++) {
      if (tallies[k].num <= most || strcmp(model->names[k].text, begins) != 0)
        continue;
      most = tallies[k].num;
      model->loop_thread = (uint32_t)i;
      model->begins_loop = (uint32_t)k;
    }
  }
  if (!most) return;
  count_names(model, &model->rows[model->loop_thread], tallies);
  for (size_t k = 0; k < model->num_names; k++)
    tallies[k].is_pattern = tallies[k].is_stage = 2 * tallies[k].num >= most;
}

static bool find_named(ppi_limit_model *model, const char *begins) {
  tally *tallies = ppi_alloc((model->num_names + 1) * sizeof *tallies);
  if (!tallies) return false;
  choose_named(model, begins, tallies);
  bool is_done =
      model->loop_thread == PPI_NONE || cut_iterations(model, tallies);
  if (model->num_units) model->unit_kind = PPI_UNIT_ITERATION;
  ppi_free(tallies);
  return is_done;
}

static void choose_loop(ppi_limit_model *model, tally *tallies, counted *room,
                        bool of_devices) {
  uint64_t best_ns = 0;
  bool best_is_several = false;
  for (size_t i = 0; i < model->num_rows; i++) {
    size_t num;
    if (model->rows[i].is_device != of_devices ||
        (model->are_linked && !model->rows[i].is_linked))
      continue;
    count_names(model, &model->rows[i], tallies);
    uint64_t time_ns = find_pattern(model, tallies, room, &num);
    bool is_several = num > 1;
    bool is_better =
        is_several != best_is_several ? is_several : time_ns > best_ns;
    if (!time_ns || !is_better) continue;
    best_ns = time_ns;
    best_is_several = is_several;
    model->loop_thread = (uint32_t)i;
  }
}

// Launches alone are no iteration: their kernels are better evidence.
static bool has_host_stages(const ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_DEVICE) &&
        ppi_name_may_be_stage(&model->names[call->name]))
      return true;
  }
  return false;
}

static bool find_iterations(ppi_limit_model *model) {
  tally *tallies = ppi_alloc((model->num_names + 1) * sizeof *tallies);
  counted *room = ppi_alloc((model->num_names + 1) * sizeof *room);
  bool is_done = tallies && room;
  if (is_done) choose_loop(model, tallies, room, !has_host_stages(model));
  if (is_done && model->loop_thread != PPI_NONE) {
    size_t num;
    count_names(model, &model->rows[model->loop_thread], tallies);
    find_pattern(model, tallies, room, &num);
    model->begins_loop = first_of_pattern(model, tallies);
    is_done = cut_iterations(model, tallies);
    model->unit_kind = PPI_UNIT_ITERATION;
  }
  ppi_free(tallies);
  ppi_free(room);
  return is_done;
}

// ---- the thread that goes round ----

static bool is_close(uint64_t a_ns, uint64_t b_ns, uint64_t eps_ns) {
  return a_ns + eps_ns >= b_ns && a_ns <= b_ns + eps_ns;
}

// The part of the steps that a row's calls cover; little if their begins and
// ends differ from the steps'.
static double goes_round(const ppi_limit_model *model,
                         const ppi_limit_row *row) {
  size_t at = 0, num_borders = 0;
  uint64_t covered_ns = 0, all_ns = 0;
  for (size_t u = 0; u < model->num_units; u++) {
    const ppi_limit_unit *unit = &model->units[u];
    uint64_t length_ns = unit->end_ns - unit->start_ns;
    uint64_t eps_ns = PPI_MAX((uint64_t)150000, length_ns / 100);
    bool has_border = false;
    all_ns += length_ns;
    for (; at < row->num_outer; at++) {
      const ppi_limit_call *call = &model->calls[row->outer[at]];
      if (call->start_ns >= unit->end_ns) break;
      uint64_t from_ns = PPI_MAX(call->start_ns, unit->start_ns);
      uint64_t to_ns = PPI_MIN(call->end_ns, unit->end_ns);
      if (to_ns > from_ns) covered_ns += to_ns - from_ns;
      has_border |= is_close(call->end_ns, unit->end_ns, eps_ns) ||
                    is_close(call->start_ns, unit->start_ns, eps_ns);
      if (call->end_ns > unit->end_ns) break;
    }
    num_borders += has_border;
  }
  double share = all_ns ? (double)covered_ns / (double)all_ns : 0;
  return 2 * num_borders >= model->num_units ? share : share / 1000;
}

static void find_loop_thread(ppi_limit_model *model) {
  double best = 0;
  for (size_t i = 0; i < model->num_rows; i++) {
    if (model->rows[i].is_device) continue;
    double share = goes_round(model, &model->rows[i]);
    if (share <= best) continue;
    best = share;
    model->loop_thread = (uint32_t)i;
  }
}

// ---- all ----

PPI_ORDER(compare_units, ppi_limit_unit, PPI_UP(start_ns) PPI_UP(end_ns))

uint64_t ppi_unit_last_end(const ppi_limit_model *model,
                           const ppi_limit_unit *unit, uint64_t from_ns,
                           uint64_t to_ns) {
  uint64_t last_ns = from_ns;
  for (size_t i = 0; i < unit->num; i++) {
    const ppi_limit_call *call =
        &model->calls[model->unit_calls[unit->first + i]];
    if (call->start_ns >= to_ns) break;
    if (call->start_ns >= from_ns && call->end_ns < to_ns)
      last_ns = PPI_MAX(last_ns, call->end_ns);
  }
  return last_ns;
}

bool ppi_model_find_units(ppi_limit_model *model,
                          const ppi_limit_calls *calls) {
  if (!find_requests(model, calls)) return false;
  if (model->unit_kind == PPI_UNIT_REQUEST) return true;
  bool is_marked = model->num_units > 0;
  if (!find_steps(model)) return false;
  if (model->unit_kind == PPI_UNIT_STEP) {
    qsort(model->units, model->num_units, sizeof *model->units, compare_units);
    find_loop_thread(model);
    return true;
  }
  // A report is about marked units: iterations of something smaller are not
  // used.
  is_marked |= model->num_units > 0;
  model->num_units = 0;
  if (is_marked) return true;
  if (model->loop && model->loop->is_off) return true;
  if (model->loop && model->loop->begins)
    return find_named(model, model->loop->begins);
  return find_iterations(model);
}
