// SPDX-License-Identifier: Apache-2.0
//
// Finds what ranges on no thread stand in line for: the thread of their event
// loop, or a limited number of places on no thread of the run. And threads of
// which something around their ranges lets only a few work.
#include <math.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/find.h"
#include "report/limit/walk.h"

enum { LEAST_JOBS = 40, MOST_PLACES = 32 };

// The calls of one name by begin, and their ends in order: without what they
// wait for their loop.
typedef struct jobs {
  const ppi_limit_model *model;
  const ppi_limit_call **calls;
  uint64_t *ends;
  size_t num;
} jobs;

static bool is_of_task(const ppi_limit_call *call) {
  return (call->flags & (PPI_CALL_LOOSE | PPI_CALL_STEP | PPI_CALL_REQUEST)) ==
         PPI_CALL_LOOSE;
}

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

// ---- the thread of an event loop ----

// By outermost call of the thread: since when it has not been idle.
static uint64_t *busy_since(const ppi_limit_model *model,
                            const ppi_limit_row *row) {
  uint64_t *since = ppi_alloc((row->num_outer + 1) * sizeof *since);
  uint64_t end_ns = 0;
  for (size_t k = 0; since && k < row->num_outer; k++) {
    const ppi_limit_call *call = &model->calls[row->outer[k]];
    const ppi_interval *wait = &model->waits[row->outer[k]];
    bool goes_on = k && end_ns + ppi_hand_over_ns >= call->start_ns;
    since[k] = goes_on ? since[k - 1] : call->start_ns;
    if (wait->to_ns > wait->from_ns) since[k] = wait->to_ns;
    end_ns = call->end_ns;
  }
  return since;
}

// The time at the call's end that it waits for the thread. False: the thread is
// in another call then, so the call does not run there.
static bool wait_for_loop(const ppi_limit_model *model,
                          const ppi_limit_row *row, const uint64_t *since,
                          const ppi_limit_call *call, ppi_interval *out) {
  size_t at = ppi_row_place(model, row, call->end_ns);
  *out = (ppi_interval){call->end_ns, call->end_ns};
  if (at < row->num_outer &&
      model->calls[row->outer[at]].start_ns < call->end_ns)
    return false;
  if (at && model->calls[row->outer[at - 1]].end_ns + ppi_hand_over_ns >=
                call->end_ns)
    out->from_ns =
        PPI_MIN(PPI_MAX(call->start_ns, since[at - 1]), call->end_ns);
  return true;
}

// A range of tasks goes on once the thread of their loop is free.
static void wait_for_loops(ppi_limit_model *model, const ppi_limit_name *name,
                           uint32_t at, const uint64_t *since) {
  const ppi_limit_row *row = &model->rows[at];
  size_t num = 0, fit = 0;
  for (int turn = 0; turn < 2; turn++) {
    for (size_t i = 0; i < name->num; i++) {
      uint32_t index = model->by_name[name->first + i];
      const ppi_limit_call *call = &model->calls[index];
      ppi_interval wait;
      if (!is_of_task(call) || call->row != at || call->num != 1 ||
          has_inner(model, call))
        continue;
      bool fits = wait_for_loop(model, row, since, call, &wait);
      num += !turn;
      fit += !turn && fits;
      if (turn && fits) model->waits[index] = wait;
    }
    if (50 * fit < 49 * num) return;
  }
}

bool ppi_model_find_loops(ppi_limit_model *model) {
  if (model->unit_kind != PPI_UNIT_REQUEST) return true;
  uint8_t *has_tasks = ppi_alloc(model->num_rows + 1);
  bool is_done = has_tasks != NULL;
  for (size_t i = 0; i < model->num_calls && is_done; i++)
    has_tasks[model->calls[i].row] |= is_of_task(&model->calls[i]);
  for (size_t k = 0; k < model->num_rows && is_done; k++) {
    const ppi_limit_row *row = &model->rows[k];
    if (!has_tasks[k] || row->is_device || row->station == PPI_NONE ||
        model->stations[row->station].servers != 1)
      continue;
    uint64_t *since = busy_since(model, row);
    is_done = since != NULL;
    for (size_t i = 0; i < model->num_names && is_done; i++)
      if (model->names[i].waits == PPI_WAITS_NOT)
        wait_for_loops(model, &model->names[i], (uint32_t)k, since);
    ppi_free(since);
  }
  ppi_free(has_tasks);
  return is_done;
}

// ---- places on no thread ----

static uint64_t done_ns(const ppi_limit_model *model,
                        const ppi_limit_call *call) {
  const ppi_interval *wait = &model->waits[call - model->calls];
  return wait->to_ns > wait->from_ns ? wait->from_ns : call->end_ns;
}

static bool list_jobs(const ppi_limit_model *model, const ppi_limit_name *name,
                      jobs *out) {
  out->model = model;
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
    out->ends[out->num++] = done_ns(model, call);
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

// The spread of service times with `places` places: variance by squared mean.
// INFINITY: some calls end before they would begin.
static double spread(const jobs *of, size_t places) {
  double sum = 0, squares = 0, num = (double)of->num;
  size_t before = 0;
  for (size_t i = 0; i < of->num; i++) {
    uint64_t from_ns = served_from(of, i, places);
    uint64_t end_ns = done_ns(of->model, of->calls[i]);
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
    uint64_t end_ns = done_ns(model, call);
    uint64_t from_ns = PPI_MIN(served_from(of, i, places), end_ns);
    model->waits[call - model->calls] = (ppi_interval){call->start_ns, from_ns};
    ns += ppi_model_within(model, from_ns, end_ns);
  }
  return ppi_model_add_places(model, name, (uint32_t)places, ns);
}

// When the request of the call came to it: its end of the call before, or its
// arrival.
static uint64_t came_ns(const ppi_limit_model *model,
                        const ppi_limit_call *call) {
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  return ppi_unit_last_end(model, unit, unit->start_ns, call->start_ns + 1);
}

// The calls that begin once another one ends, though their requests came
// before. `ends` are in order.
static size_t admitted(const jobs *of, const uint64_t *ends, uint64_t eps_ns) {
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = of->calls[i];
    size_t before =
        ppi_count_below(ends, of->num, sizeof *ends, call->start_ns + 1);
    num += before && ends[before - 1] + eps_ns >= call->start_ns &&
           came_ns(of->model, call) + eps_ns < ends[before - 1];
  }
  return num;
}

static bool admits(const jobs *of, const uint64_t *ends) {
  double num = (double)of->num, all_ns = 0;
  for (size_t i = 0; i < of->num; i++)
    all_ns += (double)(of->calls[i]->end_ns - of->calls[i]->start_ns);
  for (size_t i = 0; i < PPI_NUM_SLACKS; i++) {
    double eps = (double)ppi_slacks_ns[i];
    if (eps > 0.1 * all_ns / num) return false;
    double part = (double)admitted(of, ends, ppi_slacks_ns[i]) / num;
    double chance =
        1 - exp(-eps * num / (double)PPI_MAX(of->model->span_ns, 1));
    if (part >= 0.7 && part - chance >= 0.3) return true;
  }
  return false;
}

// The number of places of a range that begins only once another one ends,
// though more requests are under way; 0: there is no such number.
static size_t count_taken(const jobs *of, ppi_border *borders, uint64_t *ends) {
  const ppi_limit_model *model = of->model;
  for (size_t i = 0; i < of->num; i++) {
    borders[2 * i] = ppi_begin_border(of->calls[i]->start_ns);
    borders[2 * i + 1] = ppi_end_border(ends[i] = of->calls[i]->end_ns);
  }
  uint32_t most = ppi_most_at_once(model, borders, 2 * of->num);
  for (size_t i = 0; i < model->num_units; i++) {
    borders[2 * i] = ppi_begin_border(model->units[i].start_ns);
    borders[2 * i + 1] = ppi_end_border(model->units[i].end_ns);
  }
  ppi_sort_numbers(ends, of->num);
  bool is_less = most < ppi_most_at_once(model, borders, 2 * model->num_units);
  return is_less && admits(of, ends) ? most : 0;
}

// They stand in line before the range begins.
static bool add_taken(ppi_limit_model *model, uint32_t name, const jobs *of,
                      size_t places) {
  uint64_t ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_limit_call *call = of->calls[i];
    uint64_t end_ns = done_ns(model, call);
    model->waits[call - model->calls] =
        (ppi_interval){came_ns(model, call), call->start_ns};
    ns += ppi_model_within(model, call->start_ns, end_ns);
  }
  return ppi_model_add_places(model, name, (uint32_t)places, ns);
}

static bool find_places(ppi_limit_model *model, uint32_t name, const jobs *of) {
  size_t places = count_places(of);
  if (places) return add_places(model, name, of, places);
  if (model->unit_kind != PPI_UNIT_REQUEST) return true;
  size_t num = PPI_MAX(model->num_units, of->num);
  ppi_border *borders = ppi_alloc((2 * num + 1) * sizeof *borders);
  uint64_t *ends = ppi_alloc((num + 1) * sizeof *ends);
  bool is_done = borders && ends;
  if (is_done) places = count_taken(of, borders, ends);
  if (places) is_done = add_taken(model, name, of, places);
  ppi_free(borders);
  ppi_free(ends);
  return is_done;
}

uint32_t ppi_station_behind(const ppi_limit_model *model, uint64_t end_ns,
                            const ppi_limit_call *behind) {
  if (!behind || behind->flags & (PPI_CALL_LOOSE | PPI_CALL_DEVICE) ||
      behind->start_ns > end_ns + ppi_hand_over_ns)
    return PPI_NONE;
  return model->rows[behind->row].station;
}

bool ppi_are_queues(const ppi_limit_model *model, uint32_t name, uint32_t at) {
  enum { MOST = 400 };
  const ppi_limit_name *of = &model->names[name];
  const ppi_station *station = &model->stations[at];
  double all_ns = 0, taken_ns = 0;
  for (size_t i = 0; i < of->num && model->next_call; i++) {
    uint32_t index = model->by_name[of->first + i];
    const ppi_limit_call *call = &model->calls[index];
    uint32_t next = model->next_call[index];
    if (!ppi_is_sampled(i, of->num, MOST) || next == PPI_NO_CALL ||
        ppi_station_behind(model, call->end_ns, &model->calls[next]) != at)
      continue;
    all_ns += (double)(call->end_ns - call->start_ns);
    taken_ns +=
        (double)ppi_station_full_ns(station, call->start_ns, call->end_ns);
  }
  return 2 * taken_ns >= all_ns &&
         2 * (all_ns - taken_ns) <= PPI_MAX(0.1, 1 - station->full) * all_ns;
}

static bool is_queue(const ppi_limit_model *model, uint32_t name) {
  enum { MOST_LOOKS = 16 };
  const ppi_limit_name *of = &model->names[name];
  for (size_t i = 0; i < of->num && i < MOST_LOOKS && model->next_call; i++) {
    uint32_t index = model->by_name[of->first + i];
    uint32_t next = model->next_call[index];
    uint32_t station =
        next == PPI_NO_CALL
            ? PPI_NONE
            : ppi_station_behind(model, model->calls[index].end_ns,
                                 &model->calls[next]);
    if (station != PPI_NONE) return ppi_are_queues(model, name, station);
  }
  return false;
}

bool ppi_model_find_elsewhere(ppi_limit_model *model) {
  bool is_done = true;
  for (size_t i = 0; i < model->num_names && is_done; i++) {
    const ppi_limit_name *name = &model->names[i];
    jobs of = {0};
    bool may_be = name->num >= LEAST_JOBS && name->waits == PPI_WAITS_NOT &&
                  is_of_task(&model->calls[model->by_name[name->first]]);
    if (!may_be || is_queue(model, (uint32_t)i)) continue;
    is_done = list_jobs(model, name, &of);
    if (is_done && of.num >= LEAST_JOBS)
      is_done = find_places(model, (uint32_t)i, &of);
    ppi_free(of.calls);
    ppi_free(of.ends);
  }
  return is_done;
}

// ---- threads that take turns ----

// Threads that serve the same, of which only a few work at a time while
// requests wait for free ones: that many are busy for `least_full` of the time,
// and for `least_covered` of what requests wait. A thread that feeds them
// leaves gaps.
static const double least_full = 0.8, least_covered = 0.95;
enum { LEAST_WAITS = 12 };

// A row's calls for one unit, one behind another.
typedef struct visit {
  uint64_t start_ns, end_ns;
  uint32_t unit;  // PPI_NONE: none, or several
} visit;

typedef struct visits {
  visit *items;
  size_t num, capacity;
} visits;

static bool list_visits(const ppi_limit_model *model,
                        const ppi_station *station, visits *out) {
  out->num = 0;
  for (size_t i = 0; i < station->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[station->rows[i]];
    uint32_t before = PPI_NONE;
    for (size_t k = 0; k < row->num_outer; k++) {
      const ppi_limit_call *call = &model->calls[row->outer[k]];
      uint32_t unit = call->num == 1 ? model->units_of[call->first] : PPI_NONE;
      if (unit != PPI_NONE && unit == before)
        out->items[out->num - 1].end_ns = call->end_ns;
      else if (!PPI_PUSH(out->items, out->num, out->capacity,
                         (visit){call->start_ns, call->end_ns, unit}))
        return false;
      before = unit;
    }
  }
  return true;
}

// `out` gets the number of open visits over time, and what visits take. False:
// out of memory.
static bool count_visits(const ppi_limit_model *model, const visits *of,
                         ppi_station *out) {
  ppi_border *borders = ppi_alloc((2 * of->num + 1) * sizeof *borders);
  if (!borders) return false;
  for (size_t i = 0; i < of->num; i++) {
    borders[2 * i] = ppi_begin_border(of->items[i].start_ns);
    borders[2 * i + 1] = ppi_end_border(of->items[i].end_ns);
    out->occupied_ns +=
        ppi_model_within(model, of->items[i].start_ns, of->items[i].end_ns);
  }
  out->servers = ppi_most_at_once(model, borders, 2 * of->num);
  bool is_done = ppi_station_count(model, out, borders, 2 * of->num);
  ppi_free(borders);
  return is_done;
}

// Whether requests wait for a free thread only while as many as ever work.
static bool wait_for_turns(const ppi_limit_model *model, const visits *of,
                           const ppi_station *turns) {
  uint64_t wait_ns = 0, covered_ns = 0;
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++) {
    const visit *at = &of->items[i];
    if (at->unit == PPI_NONE || at->start_ns < model->from_ns ||
        at->start_ns > model->to_ns)
      continue;
    const ppi_limit_unit *unit = &model->units[at->unit];
    uint64_t from_ns =
        ppi_unit_last_end(model, unit, unit->start_ns, at->start_ns);
    if (at->start_ns - from_ns <= ppi_hand_over_ns) continue;
    // Until the thread woke up.
    uint64_t to_ns = at->start_ns - ppi_hand_over_ns;
    wait_ns += to_ns - from_ns;
    covered_ns += ppi_station_full_ns(turns, from_ns, to_ns);
    num++;
  }
  return num >= LEAST_WAITS &&
         (double)covered_ns >= least_covered * (double)wait_ns;
}

// What it does not wait for its own work elsewhere becomes work.
static void take_turns(const ppi_limit_model *model, ppi_station *station,
                       ppi_station *turns) {
  ppi_free(station->borders_ns);
  ppi_free(station->taken);
  station->borders_ns = turns->borders_ns;
  station->taken = turns->taken;
  station->num_borders = turns->num_borders;
  station->full = turns->full;
  station->servers = turns->servers;
  station->occupied_ns = station->taken_ns = turns->occupied_ns;
  station->working_ns =
      turns->occupied_ns - PPI_MIN(station->in_turn_ns, turns->occupied_ns);
  station->use = (double)station->working_ns /
                 ((double)station->servers * (double)model->time_ns);
  *turns = (ppi_station){0};
}

static bool find_turns(const ppi_limit_model *model, ppi_station *station,
                       visits *room) {
  ppi_station turns = {.kind = station->kind};
  bool is_done =
      list_visits(model, station, room) && count_visits(model, room, &turns);
  if (is_done && turns.servers && turns.servers < station->num_rows &&
      turns.full >= least_full && wait_for_turns(model, room, &turns))
    take_turns(model, station, &turns);
  ppi_free(turns.borders_ns);
  ppi_free(turns.taken);
  return is_done;
}

bool ppi_model_find_turns(ppi_limit_model *model) {
  visits room = {0};
  bool is_done = true;
  for (size_t i = 0; i < model->num_stations && is_done; i++) {
    ppi_station *station = &model->stations[i];
    if (model->unit_kind == PPI_UNIT_REQUEST && station->is_relevant &&
        station->kind == PPI_STATION_THREADS && station->num_rows >= 2)
      is_done = find_turns(model, station, &room);
  }
  ppi_free(room.items);
  return is_done;
}
