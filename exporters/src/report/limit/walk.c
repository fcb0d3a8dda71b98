// SPDX-License-Identifier: Apache-2.0
//
// Walks back over a request, and finds what each piece of a gap waits for.
#include "report/limit/walk.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"

enum { MOST_UNITS = 1000 };

// Two stages of a request are branches if either may begin while the other goes
// on: neither waits for the other. Calls of one stage take turns.
enum { MOST_BRANCHES = 32, MOST_BESIDE = 64 };
typedef struct branches {
  uint32_t names[MOST_BRANCHES];
  size_t num;
  uint32_t first[MOST_BRANCHES]
                [MOST_BRANCHES];  // how often it began before the other
} branches;

// A wait of a unit before `call`.
typedef struct gap {
  uint64_t from_ns, to_ns;
  const ppi_limit_call *call;
  uint32_t unit;    // of the examined ones
  uint32_t before;  // the row of the call before it; PPI_NONE: none
  bool is_between;  // no call of the unit is open
} gap;

typedef struct walk {
  const ppi_limit_model *model;
  ppi_blame *blame;
  const ppi_limit_unit *unit;
  branches *branches;
  uint8_t *queues;   // by name: 0 not known, 1 no queue, 2 a queue
  uint8_t *several;  // by name: 0 not known, 1 serves one, 2 several
  gap in;            // the current one; outside of gaps, its unit alone counts
  gap *gaps;         // before calls of stations: their time is divided last
  size_t num_gaps, gaps_capacity;
  ppi_row_calls rows;
  double *times_ns;  // by name
  bool failed;
} walk;

static void add_piece(walk *at, ppi_blame_kind kind, uint32_t of, uint64_t ns) {
  ppi_blame *to = at->blame;
  if (!ns) return;
  at->failed |= !PPI_ROOM(to->pieces, to->pieces_capacity, to->num_pieces + 1);
  if (at->failed) return;
  to->pieces[to->num_pieces++] =
      (ppi_blame_piece){ns, at->in.unit, of, kind, at->in.is_between};
}

// ---- a gap ----

static bool serves_several(walk *at, uint32_t name) {
  const ppi_limit_model *model = at->model;
  const ppi_limit_name *of = &model->names[name];
  uint8_t *known = &at->several[name];
  size_t num = 0;
  for (size_t i = 0; i < of->num && !*known; i++)
    num += model->calls[model->by_name[of->first + i]].num > 1;
  if (!*known) *known = num && 10 * num >= of->num ? 2 : 1;
  return *known == 2;
}

static void blame_idle(walk *at, uint32_t name, uint64_t ns) {
  if (!ns) return;
  if (ns <= ppi_hand_over_ns) {
    add_piece(at, PPI_BLAME_HAND_OVER, PPI_NONE, ns);
    return;
  }
  bool fills = serves_several(at, name);
  add_piece(at, fills ? PPI_BLAME_BATCH : PPI_BLAME_IDLE, name, ns);
  (fills ? at->blame->batch_ns : at->blame->idle_ns)[name] += (double)ns;
  ppi_blame *to = at->blame;
  at->failed |= !PPI_ROOM(to->idles, to->idles_capacity, to->num_idles + 1);
  if (!at->failed) to->idles[to->num_idles++] = (ppi_idle){ns, name};
}

// The recorded wait between calls that the row leaves at `time_ns`;
// PPI_NO_CALL: none.
static uint32_t wait_before(const ppi_limit_model *model,
                            const ppi_limit_row *row, uint64_t time_ns) {
  size_t num = ppi_calls_below(model->calls, row->between, row->num_between,
                               false, time_ns);
  if (!num) return PPI_NO_CALL;
  uint32_t last = row->between[num - 1];
  return model->calls[last].end_ns + ppi_hand_over_ns < time_ns ? PPI_NO_CALL
                                                                : last;
}

// Blames the thread that ended the wait before the gap's call, if the request's
// last call was on another one: the request's numbers do not show that. Answers
// the time.
static uint64_t blame_edge(walk *at, uint64_t idle_ns) {
  const ppi_limit_model *model = at->model;
  const gap *in = &at->in;
  uint32_t row = in->call->row;
  uint32_t wait = wait_before(model, &model->rows[row], in->to_ns);
  double ns = 0;
  if (wait == PPI_NO_CALL || !at->times_ns) return 0;
  at->blame->num_edges++;
  uint32_t by = ppi_row_of_thread(model, model->calls[wait].ended_by);
  if (by == PPI_NONE || by == in->before || by == row ||
      model->rows[by].station == PPI_NONE)
    return 0;
  memset(at->times_ns, 0, model->num_names * sizeof *at->times_ns);
  ppi_row_calls_await(model, &at->rows, wait,
                      (ppi_interval){in->from_ns, in->to_ns}, at->times_ns);
  for (size_t i = 0; i < model->num_names; i++)
    if (!model->names[i].is_recorded) ns += at->times_ns[i];
  uint64_t other_ns = PPI_MIN((uint64_t)ns, idle_ns);
  if (other_ns <= ppi_hand_over_ns) return 0;
  at->blame->num_differ++;
  for (size_t i = 0; i < model->num_names; i++)
    if (!model->names[i].is_recorded)
      at->blame->edge_ns[i] += at->times_ns[i] * (double)other_ns / ns;
  at->blame->line_ns[model->rows[by].station] += (double)other_ns;
  add_piece(at, PPI_BLAME_HELD, model->rows[by].station, other_ns);
  return other_ns;
}

static uint64_t overlap(uint64_t a_from, uint64_t a_to, uint64_t b_from,
                        uint64_t b_to) {
  uint64_t from = PPI_MAX(a_from, b_from), to = PPI_MIN(a_to, b_to);
  return to > from ? to - from : 0;
}

// The time of [from_ns, to_ns) that a call on no row stands in line for its
// places, or for the thread of its loop.
static uint64_t blame_places(walk *at, const ppi_limit_call *call,
                             uint64_t from_ns, uint64_t to_ns) {
  const ppi_limit_model *model = at->model;
  const ppi_interval *wait = &model->waits[call - model->calls];
  uint64_t ns = overlap(wait->from_ns, wait->to_ns, from_ns, to_ns);
  uint32_t station = model->rows[call->row].station;
  for (size_t i = model->num_stations; ns && i--;)
    if (model->stations[i].kind == PPI_STATION_ELSEWHERE &&
        model->stations[i].name == call->name)
      station = (uint32_t)i;
  if (model->names[call->name].waits != PPI_WAITS_NOT || station == PPI_NONE ||
      !(call->flags & PPI_CALL_LOOSE))
    return 0;
  at->blame->line_ns[station] += (double)ns;
  add_piece(at, PPI_BLAME_LINE, station, ns);
  return ns;
}

static bool is_before(const ppi_limit_model *model, const gap *in,
                      uint32_t station) {
  return model->rows[in->call->row].station == station;
}

// Divides a gap by the things that the request waits for.
static void divide_gap(walk *at, const ppi_intervals *holders) {
  const ppi_limit_model *model = at->model;
  const gap *in = &at->in;
  uint64_t idle_ns = in->to_ns - in->from_ns;
  for (uint32_t i = 0; i <= model->num_stations; i++) {
    if (!holders[i].num) continue;
    uint64_t ns = ppi_intervals_measure(&holders[i], in->to_ns) -
                  ppi_intervals_measure(&holders[i], in->from_ns);
    idle_ns -= ns;
    if (i == model->num_stations) {
      at->blame->pause_ns += (double)ns;
      add_piece(at, PPI_BLAME_PAUSED, PPI_NONE, ns);
    } else {
      at->blame->line_ns[i] += (double)ns;
      add_piece(at, is_before(model, in, i) ? PPI_BLAME_LINE : PPI_BLAME_HELD,
                i, ns);
    }
  }
  idle_ns -= blame_edge(at, idle_ns);
  blame_idle(at, in->call->name, idle_ns);
}

// Many requests wait in front of a station at a time, so what they wait for is
// found once.
static bool divide_gaps_before(walk *at, const ppi_times *all, uint32_t station,
                               ppi_intervals *holders) {
  const ppi_limit_model *model = at->model;
  ppi_intervals spans = {0};
  bool is_done = true;
  for (size_t i = 0; i < at->num_gaps && is_done; i++)
    if (is_before(model, &at->gaps[i], station))
      is_done =
          ppi_intervals_add(&spans, at->gaps[i].from_ns, at->gaps[i].to_ns);
  is_done = is_done && ppi_intervals_unite(&spans);
  is_done = is_done && ppi_find_holders(model, all, station, &spans, holders);
  for (size_t i = 0; i < at->num_gaps && is_done; i++) {
    at->in = at->gaps[i];
    if (is_before(model, &at->in, station)) divide_gap(at, holders);
  }
  for (size_t i = 0; i <= model->num_stations; i++)
    ppi_intervals_clear(&holders[i]);
  ppi_intervals_clear(&spans);
  return is_done;
}

static void divide_gaps(walk *at) {
  size_t num = at->model->num_stations;
  ppi_intervals *holders = ppi_alloc((num + 1) * sizeof *holders);
  ppi_times all = {NULL, 0};
  at->failed |= !holders || !ppi_changes_list(at->model, &all);
  for (uint32_t i = 0; i < num && !at->failed; i++)
    at->failed |= !divide_gaps_before(at, &all, i, holders);
  ppi_free(all.items);
  ppi_free(holders);
}

static void blame_gap(walk *at, uint64_t from_ns, uint64_t to_ns,
                      const ppi_limit_call *call) {
  const ppi_limit_model *model = at->model;
  if (from_ns >= to_ns) return;
  if (call->flags & PPI_CALL_LOOSE ||
      model->rows[call->row].station == PPI_NONE) {
    uint64_t line_ns = blame_places(at, call, from_ns, to_ns);
    blame_idle(at, call->name, to_ns - from_ns - line_ns);
    return;
  }
  at->in.from_ns = from_ns;
  at->in.to_ns = to_ns;
  at->in.call = call;
  at->failed |= !PPI_PUSH(at->gaps, at->num_gaps, at->gaps_capacity, at->in);
}

// ---- branches ----

static size_t branch_of(branches *of, uint32_t name) {
  size_t at = 0;
  while (at < of->num && of->names[at] != name) at++;
  if (at == of->num && at < MOST_BRANCHES) of->names[of->num++] = name;
  return at;
}

static void add_branches(const ppi_limit_model *model,
                         const ppi_limit_unit *unit, branches *to) {
  const uint32_t others = PPI_CALL_DEVICE | PPI_CALL_LOOSE;
  const uint32_t *calls = model->unit_calls + unit->first;
  for (size_t i = 0; i < unit->num && unit->num <= MOST_BESIDE; i++) {
    const ppi_limit_call *call = &model->calls[calls[i]];
    for (size_t k = i + 1; k < unit->num; k++) {
      const ppi_limit_call *later = &model->calls[calls[k]];
      if (later->start_ns >= call->end_ns) break;
      if ((call->flags | later->flags) & others || call->row == later->row)
        continue;
      size_t a = branch_of(to, call->name), b = branch_of(to, later->name);
      if (a == MOST_BRANCHES || b == MOST_BRANCHES) continue;
      to->first[a][b]++;
      to->first[b][a] += call->start_ns == later->start_ns;
    }
  }
}

static bool are_branches(branches *of, const ppi_limit_call *call,
                         const ppi_limit_call *other) {
  const uint32_t others = PPI_CALL_DEVICE | PPI_CALL_LOOSE;
  if ((call->flags | other->flags) & others || call->name == other->name)
    return false;
  size_t a = branch_of(of, call->name), b = branch_of(of, other->name);
  if (a == MOST_BRANCHES || b == MOST_BRANCHES) return false;
  uint32_t before = of->first[a][b], behind = of->first[b][a];
  return 20 * PPI_MIN(before, behind) > before + behind;
}

// How much earlier calls of its name could end until another branch is the last
// to end.
static uint64_t slack_of(const walk *at, const ppi_limit_call *call,
                         uint64_t end_ns) {
  uint64_t slack_ns = end_ns - call->start_ns;
  for (size_t i = 0; i < at->unit->num && at->unit->num <= MOST_BESIDE; i++) {
    const ppi_limit_call *other =
        &at->model->calls[at->model->unit_calls[at->unit->first + i]];
    if (other->start_ns >= end_ns || other->end_ns <= call->start_ns ||
        other->end_ns > end_ns || !are_branches(at->branches, call, other))
      continue;
    slack_ns = PPI_MIN(slack_ns, end_ns - other->end_ns);
  }
  return slack_ns;
}

// ---- inside a call ----

static void blame_device(walk *at, const ppi_limit_call *work, uint64_t from_ns,
                         uint64_t to_ns, uint64_t *left_ns) {
  uint32_t station = at->model->rows[work->row].station;
  uint64_t ns = overlap(work->start_ns, work->end_ns, from_ns, to_ns);
  uint64_t line_ns = overlap(work->submit_ns, work->start_ns, from_ns, to_ns);
  ns = PPI_MIN(ns, *left_ns);
  *left_ns -= ns;
  line_ns = PPI_MIN(line_ns, *left_ns);
  *left_ns -= line_ns;
  if (station == PPI_NONE) return;
  at->blame->device_ns[station] += (double)ns;
  at->blame->line_ns[station] += (double)line_ns;
  add_piece(at, PPI_BLAME_WORK, work->name, ns);
  add_piece(at, PPI_BLAME_LINE, station, line_ns);
}

// For a call that waits for others of the same request: the time until the
// first of them begins with its servers taken. A call that gives up before that
// is in line until it ends.
static uint64_t blame_line_inside(walk *at, const ppi_limit_call *call,
                                  uint32_t awaited) {
  const ppi_limit_model *model = at->model;
  ppi_inside inside[PPI_MOST_INSIDE];
  size_t num = ppi_calls_inside(model, call, inside);
  if (!num && !ppi_call_gives_up(model, call, awaited)) return 0;
  const ppi_limit_call *first =
      num ? inside->call
          : &model->calls[model->by_name[model->names[awaited].first]];
  uint32_t station = model->rows[first->row].station;
  if (station == PPI_NONE) return 0;
  uint64_t ns = ppi_station_full_ns(&model->stations[station], call->start_ns,
                                    num ? first->start_ns : call->end_ns);
  at->blame->line_ns[station] += (double)ns;
  add_piece(at, PPI_BLAME_LINE, station, ns);
  return ns;
}

static void blame_work(walk *at, uint32_t name, uint64_t ns) {
  at->blame->own_ns[name] += (double)ns;
  at->blame->alone_ns[name] += (double)ns;
  add_piece(at, PPI_BLAME_WORK, name, ns);
}

// Blames the calls that it waits for, in their order; answers their time, at
// most `left_ns`. One alone has the name that the call waits for.
static uint64_t blame_calls_inside(walk *at, const ppi_limit_call *call,
                                   uint64_t left_ns) {
  ppi_inside inside[PPI_MOST_INSIDE];
  size_t num = ppi_calls_inside(at->model, call, inside);
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < num && num > 1; i++) {
    uint64_t ns = inside[i].call->end_ns - inside[i].from_ns;
    ns = PPI_MIN(ns, left_ns - sum_ns);
    blame_work(at, inside[i].call->name, ns);
    sum_ns += ns;
  }
  return sum_ns;
}

// Recorded waits are no work of the call around them: blames the ranges that
// they wait for. Answers their time, at most `left_ns`.
static uint64_t blame_waits_inside(walk *at, const ppi_limit_call *call,
                                   uint64_t to_ns, uint64_t left_ns) {
  const ppi_limit_model *model = at->model;
  const ppi_interval in = {call->start_ns, to_ns};
  double ns = 0;
  uint64_t sum_ns = 0;
  if (!at->times_ns) return 0;
  memset(at->times_ns, 0, model->num_names * sizeof *at->times_ns);
  uint64_t waits_ns =
      ppi_row_calls_await_inside(model, &at->rows, call->row, in, at->times_ns);
  waits_ns = PPI_MIN(waits_ns, left_ns);
  for (size_t i = 0; i < model->num_names; i++) ns += at->times_ns[i];
  for (uint32_t i = 0; i < model->num_names && ns > 0; i++) {
    uint64_t part_ns = (uint64_t)((double)waits_ns * at->times_ns[i] / ns);
    blame_work(at, i, part_ns);
    sum_ns += part_ns;
  }
  return sum_ns;
}

// The call stands in line for a place of a range: blames that range, and
// answers the time.
static uint64_t blame_line_for(walk *at, uint32_t name, uint64_t ns) {
  uint32_t places = ppi_station_of_places(at->model, name);
  if (places == PPI_NONE) return 0;
  at->blame->line_ns[places] += (double)ns;
  add_piece(at, PPI_BLAME_LINE, places, ns);
  return ns;
}

// The call waits for another thread; `ns`: as long.
static void blame_awaited(walk *at, const ppi_limit_call *call, uint64_t ns) {
  uint32_t other = at->model->names[call->name].waits_for;
  if (other != PPI_NONE) ns -= PPI_MIN(blame_line_inside(at, call, other), ns);
  ns -= blame_calls_inside(at, call, ns);
  ns -= blame_line_for(at, other, ns);
  if (other == PPI_NONE)
    add_piece(at, PPI_BLAME_WORK, call->name, ns);
  else
    blame_work(at, other, ns);
}

static void blame_inside(walk *at, uint32_t index, uint64_t to_ns) {
  const ppi_limit_model *model = at->model;
  const ppi_limit_call *call = &model->calls[index];
  const ppi_limit_name *name = &model->names[call->name];
  uint64_t from_ns = call->start_ns, left_ns = to_ns - from_ns;
  uint64_t waits_ns = overlap(model->waits[index].from_ns,
                              model->waits[index].to_ns, from_ns, to_ns);
  for (size_t i = 0; i < at->unit->num; i++) {
    const ppi_limit_call *work =
        &model->calls[model->unit_calls[at->unit->first + i]];
    if (work->flags & PPI_CALL_DEVICE && work->start_ns < to_ns &&
        work->end_ns > from_ns)
      blame_device(at, work, from_ns, to_ns, &left_ns);
  }
  waits_ns = PPI_MIN(waits_ns, left_ns);
  if (name->waits == PPI_WAITS_THREAD) {
    blame_awaited(at, call, waits_ns);
    left_ns -= waits_ns;
  } else if (name->in_line_for != PPI_NONE) {
    left_ns -= blame_line_for(at, name->in_line_for, waits_ns);
  } else if (name->waits == PPI_WAITS_NOT) {
    left_ns -= blame_waits_inside(at, call, to_ns, left_ns);
  }
  at->blame->own_ns[call->name] += (double)left_ns;
  at->blame->alone_ns[call->name] +=
      (double)PPI_MIN(left_ns, 2 * slack_of(at, call, to_ns));
  add_piece(at, PPI_BLAME_WORK, call->name, left_ns);
}

static bool is_queue(walk *at, const ppi_limit_call *call, uint64_t to_ns,
                     const ppi_limit_call *behind) {
  uint32_t station = ppi_station_behind(at->model, to_ns, behind);
  if (station == PPI_NONE) return false;
  uint8_t *known = &at->queues[call->name];
  if (!*known) *known = ppi_are_queues(at->model, call->name, station) ? 2 : 1;
  return *known == 2;
}

// ---- back over a request ----

// A call on no row may lie in another one, which then ends no later.
static uint64_t end_before(const ppi_limit_call *call, uint64_t time_ns) {
  return call->flags & PPI_CALL_LOOSE ? PPI_MIN(call->end_ns, time_ns)
                                      : call->end_ns;
}

// The call before `time_ns` that ends last, the inner one of two. Calls on
// other branches than that of `behind` do not count.
static uint32_t last_before(const walk *at, uint64_t time_ns,
                            const ppi_limit_call *behind) {
  uint32_t last = PPI_NO_CALL;
  for (size_t i = 0; i < at->unit->num; i++) {
    uint32_t index = at->model->unit_calls[at->unit->first + i];
    const ppi_limit_call *call = &at->model->calls[index];
    if (call->start_ns >= time_ns) break;
    if (behind && are_branches(at->branches, call, behind)) continue;
    bool is_loose =
        last != PPI_NO_CALL &&
        (call->flags | at->model->calls[last].flags) & PPI_CALL_LOOSE;
    if (last == PPI_NO_CALL || end_before(call, time_ns) + is_loose >
                                   end_before(&at->model->calls[last], time_ns))
      last = index;
  }
  return last;
}

// Answers since when the request's time is blamed.
static uint64_t blame_call(walk *at, uint32_t index, uint64_t to_ns,
                           const ppi_limit_call *behind) {
  const ppi_limit_call *call = &at->model->calls[index];
  uint64_t from_ns = call->start_ns;
  if (call->flags & PPI_CALL_LOOSE)
    from_ns = ppi_unit_last_end(at->model, at->unit, from_ns, to_ns);
  if (call->flags & PPI_CALL_DEVICE) {
    from_ns = PPI_MIN(call->submit_ns, call->start_ns);
    uint64_t left_ns = to_ns - from_ns;
    blame_device(at, call, 0, to_ns, &left_ns);
  } else if (!(call->flags & PPI_CALL_LOOSE)) {
    blame_inside(at, index, to_ns);
  } else if (is_queue(at, call, to_ns, behind)) {
    blame_gap(at, from_ns, to_ns, behind);
  } else {
    uint64_t line_ns = blame_places(at, call, from_ns, to_ns);
    if (behind && !line_ns) line_ns = blame_places(at, behind, from_ns, to_ns);
    uint64_t own_ns = to_ns - from_ns - line_ns;
    at->blame->elsewhere_ns[call->name] += (double)own_ns;
    add_piece(at, PPI_BLAME_WORK, call->name, own_ns);
  }
  return from_ns;
}

static void blame_between(walk *at, uint64_t from_ns, uint64_t to_ns,
                          const ppi_limit_call *behind) {
  at->in.is_between = true;
  blame_gap(at, from_ns, to_ns, behind);
  at->in.is_between = false;
}

static void walk_unit(walk *at) {
  const ppi_limit_call *behind = NULL;
  uint64_t time_ns = at->unit->end_ns;
  at->in.unit = (uint32_t)at->blame->num_units;
  at->blame->latencies[at->blame->num_units++] =
      at->unit->end_ns - at->unit->start_ns;
  at->blame->latency_ns += (double)(at->unit->end_ns - at->unit->start_ns);
  for (;;) {
    uint32_t index = last_before(at, time_ns, behind);
    if (index == PPI_NO_CALL) break;
    const ppi_limit_call *call = &at->model->calls[index];
    uint64_t end_ns = PPI_MIN(call->end_ns, time_ns);
    at->in.before = call->flags & PPI_CALL_DEVICE ? call->host : call->row;
    if (behind) blame_between(at, end_ns, time_ns, behind);
    time_ns = blame_call(at, index, end_ns, behind);
    behind = call;
  }
  at->in.before = PPI_NONE;
  if (behind && time_ns > at->unit->start_ns)
    blame_between(at, at->unit->start_ns, time_ns, behind);
}

static void walk_units(walk *at) {
  const ppi_limit_model *model = at->model;
  for (int turn = 0; turn < 2; turn++) {
    size_t seen = 0;
    for (size_t i = 0; i < model->num_units && !at->failed; i++) {
      at->unit = &model->units[i];
      if (at->unit->is_left_out ||
          !ppi_is_sampled(seen++, model->num_counted, MOST_UNITS))
        continue;
      if (turn)
        walk_unit(at);
      else
        add_branches(model, at->unit, at->branches);
    }
  }
}

bool ppi_blame_find(const ppi_limit_model *model, ppi_blame *out) {
  const size_t names = model->num_names + 1, stations = model->num_stations + 1;
  double *const ns = ppi_alloc((6 * names + 2 * stations) * sizeof *ns);
  *out = (ppi_blame){
      .own_ns = ns,
      .latencies = ppi_alloc((model->num_units + 1) * sizeof(uint64_t))};
  branches *of = ppi_alloc(sizeof *of);
  walk at = {.model = model,
             .blame = out,
             .branches = of,
             .queues = ppi_alloc(model->num_names + 1),
             .several = ppi_alloc(model->num_names + 1)};
  at.failed = !of || !at.queues || !at.several || !ns || !out->latencies;
  if (ns) {
    out->alone_ns = ns + names;
    out->batch_ns = ns + 2 * names;
    out->idle_ns = ns + 3 * names;
    out->elsewhere_ns = ns + 4 * names;
    out->edge_ns = ns + 5 * names;
    out->device_ns = ns + 6 * names;
    out->line_ns = out->device_ns + stations;
  }
  if (!at.failed && model->unit_kind == PPI_UNIT_REQUEST) {
    if (model->are_linked) at.times_ns = ppi_alloc(names * sizeof(double));
    at.failed = model->are_linked &&
                (!at.times_ns || !ppi_row_calls_list(model, &at.rows));
    if (!at.failed) walk_units(&at);
    if (!at.failed) divide_gaps(&at);
  }
  ppi_row_calls_clear(&at.rows);
  PPI_FREE_ALL(at.times_ns, of, at.queues, at.several, at.gaps);
  return !at.failed;
}

void ppi_blame_clear(ppi_blame *blame) {
  PPI_FREE_ALL(blame->own_ns, blame->pieces, blame->latencies, blame->idles);
}
