// SPDX-License-Identifier: Apache-2.0
//
// Sorts calls by time and gives them their stages' names and rows.
#include "report/limit/find.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/row_calls.h"

// ---- one time axis, without the stretches left out ----

static void close_gaps(ppi_limit_calls *calls) {
  uint64_t shift_ns = 0, end_ns = 0;
  for (size_t i = 0; i < calls->num_chunks; i++) {
    ppi_limit_chunk *chunk = &calls->chunks[i];
    if (i) shift_ns += chunk->from_ns - PPI_MIN(chunk->from_ns, end_ns);
    end_ns = chunk->to_ns;
    for (size_t k = chunk->first; k < chunk->first + chunk->num; k++) {
      ppi_limit_call *call = &calls->items[k];
      bool is_before_gap =
          i + 1 < calls->num_chunks && end_ns < chunk[1].from_ns;
      if (is_before_gap && call->end_ns > end_ns && call->start_ns < end_ns) {
        call->end_ns = end_ns;
        call->flags |= PPI_CALL_CUT;
      }
      call->start_ns -= PPI_MIN(call->start_ns, shift_ns);
      call->end_ns -= PPI_MIN(call->end_ns, shift_ns);
      call->submit_ns -= PPI_MIN(call->submit_ns, shift_ns);
      call->last_submit_ns -= PPI_MIN(call->last_submit_ns, shift_ns);
    }
  }
}

static void find_span(ppi_limit_model *model) {
  uint64_t from_ns = UINT64_MAX, to_ns = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    from_ns = PPI_MIN(from_ns, model->calls[i].start_ns);
    to_ns = PPI_MAX(to_ns, model->calls[i].end_ns);
  }
  model->span_ns = to_ns > from_ns ? to_ns - from_ns : 0;
}

// ---- containers: ranges around a thread's whole life are no calls ----

enum { LEAST_INSIDE = 5, CONTAINER = 1 << 16, MERGED = 1 << 17 };
enum { WRAPPER = 1 << 18, HAS_FIRST = 1 << 19, HAS_LAST = 1 << 20 };

static bool drop_containers(ppi_limit_model *model) {
  uint32_t *inside = ppi_alloc((model->num_calls + 1) * sizeof *inside);
  if (!inside) return false;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->parent != PPI_NO_CALL && !(call->flags & PPI_CALL_DEVICE))
      inside[call->parent]++;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[i];
    const uint32_t others = PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP;
    bool is_long = 2 * (call->end_ns - call->start_ns) >= model->span_ns;
    if (call->parent != PPI_NO_CALL &&
        model->calls[call->parent].flags & (CONTAINER | PPI_CALL_STEP))
      call->parent = model->calls[call->parent].parent;
    if (is_long && !call->num && !(call->flags & others) &&
        inside[i] >= LEAST_INSIDE)
      call->flags |= CONTAINER;
  }
  ppi_free(inside);
  return true;
}

// ---- wrappers: ranges around all stages of a thread's work for a request ----

// By name: the time of outermost calls, of calls directly in them, and of the
// greatest name among these.
typedef struct wrapped {
  uint64_t time_ns, inside_ns, most_ns, part_ns;
} wrapped;

static bool may_wrap(const ppi_limit_call *call) {
  return ppi_call_is_on_thread(call) && call->parent == PPI_NO_CALL &&
         call->num;
}

static bool is_wrapped(const ppi_limit_model *model,
                       const ppi_limit_call *call) {
  return ppi_call_is_on_thread(call) && call->parent != PPI_NO_CALL &&
         !(call->flags & PPI_CALL_WAIT) &&
         model->ids->names[call->name].category != PPROF_CATEGORY_RUNTIME &&
         may_wrap(&model->calls[call->parent]);
}

static void measure_wrapped(const ppi_limit_model *model, wrapped *of) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    uint64_t ns = call->end_ns - call->start_ns;
    if (may_wrap(call)) of[call->name].time_ns += ns;
    if (!is_wrapped(model, call)) continue;
    wrapped *around = &of[model->calls[call->parent].name];
    of[call->name].part_ns += ns;
    around->inside_ns += ns;
    around->most_ns = PPI_MAX(around->most_ns, of[call->name].part_ns);
  }
}

// A stage with half of a wrapper's time has the wrapper's edges beside it.
static void widen(ppi_limit_model *model, bool ends) {
  const uint32_t seen = ends ? HAS_LAST : HAS_FIRST;
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[ends ? model->num_calls - 1 - i : i];
    if (!ppi_call_is_on_thread(call) || call->parent == PPI_NO_CALL) continue;
    ppi_limit_call *around = &model->calls[call->parent];
    uint64_t half_ns = (around->end_ns - around->start_ns) / 2;
    bool is_at_edge = (around->flags & (WRAPPER | seen)) == WRAPPER;
    around->flags |= seen;
    if (!is_at_edge || call->end_ns - call->start_ns < half_ns) continue;
    call->start_ns = ends ? call->start_ns : around->start_ns;
    call->end_ns = ends ? around->end_ns : call->end_ns;
  }
}

// The stages in a wrapper take its place, with its requests.
static bool drop_wrappers(ppi_limit_model *model) {
  wrapped *of = ppi_alloc((model->ids->num_names + 1) * sizeof *of);
  if (!of) return false;
  measure_wrapped(model, of);
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[i];
    const wrapped *by = &of[call->name];
    if (may_wrap(call) && 20 * by->inside_ns >= 19 * by->time_ns &&
        2 * by->most_ns >= by->time_ns)
      call->flags |= CONTAINER | WRAPPER;
  }
  widen(model, false);
  widen(model, true);
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[i];
    if (call->parent == PPI_NO_CALL) continue;
    const ppi_limit_call *around = &model->calls[call->parent];
    if (!(around->flags & CONTAINER) || !around->num) continue;
    if (!call->num) {
      call->first = around->first;
      call->num = around->num;
    }
    call->parent = PPI_NO_CALL;
  }
  ppi_free(of);
  return true;
}

// ---- what calls inherit ----

uint32_t ppi_model_outermost(const ppi_limit_model *model, uint32_t at) {
  while (model->calls[at].parent != PPI_NO_CALL) at = model->calls[at].parent;
  return at;
}

static bool add_work(ppi_limit_model *model, uint32_t at, uint32_t part_of,
                     uint32_t around) {
  const ppi_limit_call *call = &model->calls[at];
  return PPI_PUSH(model->works, model->num_works, model->works_capacity,
                  (ppi_limit_work){.start_ns = call->start_ns,
                                   .end_ns = call->end_ns,
                                   .submit_ns = call->submit_ns,
                                   .work_ns = call->work_ns,
                                   .launches = 1 + call->dropped,
                                   .call = part_of,
                                   .around = around});
}

// By stream: its last call.
typedef struct last_calls {
  uint32_t *items;
  size_t num, capacity;
} last_calls;

static uint32_t *last_of(last_calls *last, uint32_t row) {
  if (!PPI_ROOM(last->items, last->capacity, (size_t)row + 1)) return NULL;
  for (; last->num <= row; last->num++) last->items[last->num] = PPI_NO_CALL;
  return &last->items[row];
}

// Kernels get the name of their stage. Consecutive kernels of one call on a
// stream become one call.
static bool take_kernel(ppi_limit_model *model, last_calls *last, uint32_t at) {
  ppi_limit_call *call = &model->calls[at];
  uint32_t around = call->parent, *known = last_of(last, call->row);
  if (!known) return false;
  call->parent = ppi_model_outermost(model, around);
  call->name = model->calls[call->parent].name;
  ppi_limit_call *before = *known == PPI_NO_CALL ? NULL : &model->calls[*known];
  bool follows = before && before->parent == call->parent &&
                 before->end_ns <= call->start_ns;
  if (!follows) {
    *known = at;
    return add_work(model, at, at, around);
  }
  before->end_ns = call->end_ns;
  before->last_submit_ns = call->submit_ns;
  before->work_ns += call->work_ns;
  call->flags |= MERGED;
  return add_work(model, at, *known, around);
}

// A call without requests has those of the range around it.
static bool inherit(ppi_limit_model *model) {
  last_calls last = {0};
  bool is_done = true;
  for (size_t i = 0; i < model->num_calls && is_done; i++) {
    ppi_limit_call *call = &model->calls[i];
    bool is_device = call->flags & PPI_CALL_DEVICE;
    bool has_parent = call->parent != PPI_NO_CALL;
    if (has_parent && !call->num) {
      call->first = model->calls[call->parent].first;
      call->num = model->calls[call->parent].num;
    }
    if (is_device && has_parent && !(call->flags & PPI_CALL_NAMED))
      is_done = take_kernel(model, &last, (uint32_t)i);
    else if (is_device)
      is_done = add_work(model, (uint32_t)i, (uint32_t)i, call->parent);
  }
  ppi_free(last.items);
  return is_done;
}

// ---- order ----

typedef struct place {
  uint64_t start_ns, end_ns;
  uint32_t was;
} place;

// Places and works begin with their start.
static uint64_t start_of(const void *item) {
  return *(const uint64_t *)item;
}

PPI_ORDER(compare_places, place, PPI_UP(start_ns) PPI_DOWN(end_ns) PPI_UP(was))

PPI_ORDER(compare_works, ppi_limit_work,
          PPI_UP(start_ns) PPI_UP(end_ns) PPI_UP(call))

static void order_works(ppi_limit_model *model, const uint32_t *now) {
  for (size_t i = 0; i < model->num_works; i++) {
    ppi_limit_work *work = &model->works[i];
    work->call = now[work->call];
    if (work->around != PPI_NO_CALL) work->around = now[work->around];
  }
  ppi_sort(model->works, model->num_works, sizeof *model->works, start_of,
           compare_works);
}

// Places of all calls: those that stay, by time, then the dropped ones. Answers
// how many stay.
static size_t find_places(const ppi_limit_model *model, place *places,
                          uint32_t *now) {
  size_t num = 0, all;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    now[i] = PPI_NO_CALL;
    if (!(call->flags & (CONTAINER | MERGED)))
      places[num++] = (place){call->start_ns, call->end_ns, (uint32_t)i};
  }
  ppi_sort(places, num, sizeof *places, start_of, compare_places);
  for (all = 0; all < num; all++) now[places[all].was] = (uint32_t)all;
  for (size_t i = 0; i < model->num_calls; i++)
    if (now[i] == PPI_NO_CALL) places[all++].was = (uint32_t)i;
  return num;
}

// Moves calls to their places, along each circle of moves.
static void move_calls(ppi_limit_model *model, place *places) {
  for (size_t first = 0; first < model->num_calls; first++) {
    const ppi_limit_call call = model->calls[first];
    size_t to = first, from;
    for (; (from = places[to].was) != PPI_NO_CALL; to = from) {
      places[to].was = PPI_NO_CALL;
      model->calls[to] = from == first ? call : model->calls[from];
    }
  }
}

// Removes dropped calls and updates the parents' indexes.
static bool put_in_order(ppi_limit_model *model) {
  place *places = ppi_alloc((model->num_calls + 1) * sizeof *places);
  uint32_t *now = ppi_alloc((model->num_calls + 1) * sizeof *now);
  bool is_done = places && now;
  if (is_done) {
    size_t num = find_places(model, places, now);
    move_calls(model, places);
    model->num_calls = num;
    for (size_t i = 0; i < num; i++) {
      uint32_t *parent = &model->calls[i].parent;
      if (*parent != PPI_NO_CALL) *parent = now[*parent];
    }
    order_works(model, now);
  }
  ppi_free(places);
  ppi_free(now);
  return is_done;
}

// ---- tasks that keep their thread ----

// The greatest time, and the greatest one of another request.
typedef struct greatest {
  uint64_t ns[2], of[2];
} greatest;

static void put_greatest(greatest *to, uint64_t ns, uint64_t of) {
  if (of != to->of[0] && ns >= to->ns[0]) {
    to->ns[1] = to->ns[0];
    to->of[1] = to->of[0];
    to->of[0] = of;
  }
  int at = of != to->of[0];
  if (ns < to->ns[at]) return;
  to->ns[at] = ns;
  to->of[at] = of;
}

static uint64_t of_others(const greatest *all, uint64_t of) {
  return all->ns[all->of[0] == of];
}

// Numbers of calls of one name by tasks. `kept`: no other request's call begins
// or ends on their thread meanwhile. `beside`: of those, calls with another
// request open.
typedef struct tasks {
  size_t num, kept, beside;
} tasks;

typedef struct settling {
  ppi_limit_model *model;
  const uint64_t *flows;
  ppi_border *borders;  // the value is a call
  tasks *by_name;
  uint8_t *is_kept;  // by call
} settling;

static bool is_of_task(const ppi_limit_call *call) {
  return call->flags & PPI_CALL_LOOSE && !(call->flags & PPI_CALL_STEP) &&
         call->num == 1;
}

static void look_at_tasks(const settling *of, size_t num) {
  const ppi_limit_model *model = of->model;
  greatest last = {{0}, {0}}, ends = {{0}, {0}};
  ppi_sort_keyed(of->borders, num);
  for (size_t i = 0; i < num; i++) {
    uint32_t at = (uint32_t)of->borders[i].value;
    const ppi_limit_call *call = &model->calls[at];
    uint64_t flow = of->flows[call->first] + 1;
    bool is_end = of->borders[i].key == call->end_ns;
    if (is_end && !(call->flags & PPI_CALL_REQUEST)) {
      tasks *to = &of->by_name[call->name];
      of->is_kept[at] = of_others(&last, flow) <= call->start_ns;
      to->num++;
      to->kept += of->is_kept[at];
      to->beside += of->is_kept[at] && of_others(&ends, flow) > call->end_ns;
    }
    put_greatest(&last, of->borders[i].key, flow);
    put_greatest(&ends, call->end_ns, flow);
  }
}

static bool keep_threads(const tasks *of) {
  enum { LEAST_CALLS = 5 };
  return of->num >= LEAST_CALLS && 50 * of->kept >= 49 * of->num &&
         2 * of->beside >= of->num;
}

// Puts such calls on their rows, each inside the call around it.
static void put_on_threads(const settling *of, uint32_t row) {
  ppi_limit_call *calls = of->model->calls;
  uint32_t top = PPI_NO_CALL;
  for (size_t i = 0; i < of->model->num_calls; i++) {
    ppi_limit_call *call = &calls[i];
    bool settles = of->is_kept[i] && keep_threads(&of->by_name[call->name]);
    if (call->row != row || (!settles && !ppi_call_is_on_row(call))) continue;
    while (top != PPI_NO_CALL && calls[top].end_ns <= call->start_ns)
      top = calls[top].parent;
    if (top != PPI_NO_CALL && call->end_ns > calls[top].end_ns) continue;
    call->flags &= ~(uint32_t)PPI_CALL_LOOSE;
    if (call->parent == PPI_NO_CALL) call->parent = top;
    top = (uint32_t)i;
  }
}

static void settle_row(const settling *of, uint32_t row) {
  const ppi_limit_model *model = of->model;
  size_t num = 0;
  memset(of->by_name, 0, model->ids->num_names * sizeof *of->by_name);
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!is_of_task(call) || call->row != row) continue;
    of->borders[num++] = (ppi_border){call->start_ns, i};
    of->borders[num++] = (ppi_border){call->end_ns, i};
  }
  look_at_tasks(of, num);
  put_on_threads(of, row);
}

// Ranges of tasks may wander between threads. If nothing else ever begins or
// ends on the thread meanwhile, though other requests are open, they keep it.
static bool settle_tasks(ppi_limit_model *model, const uint64_t *flows) {
  settling of = {model, flows,
                 ppi_alloc((2 * model->num_calls + 1) * sizeof(ppi_border)),
                 ppi_alloc((model->ids->num_names + 1) * sizeof(tasks)),
                 ppi_alloc(model->num_calls + 1)};
  uint8_t *is_settled = ppi_alloc(model->ids->num_threads + 1);
  bool is_done = of.borders && of.by_name && of.is_kept && is_settled;
  for (size_t i = 0; is_done && i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!is_of_task(call) || is_settled[call->row]) continue;
    is_settled[call->row] = 1;
    settle_row(&of, call->row);
  }
  PPI_FREE_ALL(of.borders, of.by_name, of.is_kept, is_settled);
  return is_done;
}

// ---- names ----

static bool list_names(ppi_limit_model *model) {
  model->num_names = model->ids->num_names;
  model->names = ppi_alloc((model->num_names + 1) * sizeof *model->names);
  model->by_name = ppi_alloc((model->num_calls + 1) * sizeof(uint32_t));
  if (!model->names || !model->by_name) return false;
  for (size_t i = 0; i < model->num_names; i++) {
    model->names[i].text = model->ids->names[i].text;
    model->names[i].category = model->ids->names[i].category;
    model->names[i].waits_for = model->names[i].in_line_for = PPI_NONE;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & PPI_CALL_DEVICE) continue;
    model->names[call->name].num++;
    model->names[call->name].time_ns += call->end_ns - call->start_ns;
  }
  size_t first = 0;
  for (size_t i = 0; i < model->num_names; i++) {
    model->names[i].first = first;
    first += model->names[i].num;
    model->names[i].num = 0;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    if (model->calls[i].flags & PPI_CALL_DEVICE) continue;
    ppi_limit_name *name = &model->names[model->calls[i].name];
    model->by_name[name->first + name->num++] = (uint32_t)i;
  }
  return true;
}

static bool find_medians(ppi_limit_model *model) {
  uint64_t *lengths = ppi_alloc((model->num_calls + 1) * sizeof *lengths);
  if (!lengths) return false;
  for (size_t i = 0; i < model->num_names; i++) {
    ppi_limit_name *name = &model->names[i];
    for (size_t k = 0; k < name->num; k++) {
      const ppi_limit_call *call =
          &model->calls[model->by_name[name->first + k]];
      lengths[k] = call->end_ns - call->start_ns;
    }
    ppi_sort_numbers(lengths, name->num);
    name->median_ns = ppi_quantile_of(lengths, name->num, 0.5);
  }
  ppi_free(lengths);
  return true;
}

// ---- rows ----

static void list_rows(ppi_limit_model *model) {
  const ppi_table_ids *ids = model->ids;
  for (size_t i = 0; i < model->num_rows; i++) {
    ppi_limit_row *row = &model->rows[i];
    row->station = PPI_NONE;
    row->is_device = i >= ids->num_threads;
    if (row->is_device) {
      row->id = (uint32_t)(i - ids->num_threads);
      row->device = ppi_table_ids_device(ids, row->id);
      row->name = ppi_table_ids_device_name(ids, row->device);
    } else {
      row->id = (uint32_t)i;
      row->name = ids->threads[i].name;
    }
    if (!row->name) row->name = "";
  }
}

// An outermost call; steps and calls that wander between threads are on no row.
static bool is_outer(const ppi_limit_call *call) {
  if (call->flags & (PPI_CALL_LOOSE | PPI_CALL_STEP)) return false;
  return call->flags & PPI_CALL_DEVICE || call->parent == PPI_NO_CALL;
}

static void put_on_row(ppi_limit_model *model, uint32_t at) {
  const ppi_limit_call *call = &model->calls[at];
  ppi_limit_row *row = &model->rows[call->row];
  if (ppi_call_is_between(call)) row->between[row->num_between++] = at;
  if (ppi_call_is_between(call) || !is_outer(call)) return;
  if (!row->num_outer) row->first_ns = call->start_ns;
  row->last_ns = PPI_MAX(row->last_ns, call->end_ns);
  row->outer[row->num_outer++] = at;
}

static bool fill_rows(ppi_limit_model *model) {
  size_t num_threads = model->ids->num_threads, num_streams = 0;
  for (size_t i = 0; i < model->num_calls; i++)
    if (model->calls[i].flags & PPI_CALL_DEVICE)
      num_streams = PPI_MAX(num_streams, (size_t)model->calls[i].row + 1);
  model->num_rows = num_threads + num_streams;
  model->rows = ppi_alloc((model->num_rows + 1) * sizeof *model->rows);
  if (!model->rows) return false;
  list_rows(model);
  for (size_t i = 0; i < model->num_calls; i++) {
    ppi_limit_call *call = &model->calls[i];
    if (call->flags & PPI_CALL_DEVICE) call->row += (uint32_t)num_threads;
    if (is_outer(call)) model->rows[call->row].num_outer++;
    if (ppi_call_is_between(call)) model->rows[call->row].num_between++;
  }
  for (size_t i = 0; i < model->num_rows; i++) {
    ppi_limit_row *row = &model->rows[i];
    row->outer = ppi_alloc((row->num_outer + 1) * sizeof *row->outer);
    row->between = ppi_alloc((row->num_between + 1) * sizeof *row->between);
    if (!row->outer || !row->between) return false;
    row->num_outer = row->num_between = 0;
  }
  for (size_t i = 0; i < model->num_calls; i++) put_on_row(model, (uint32_t)i);
  return true;
}

// By recorded waits.
static void link_rows(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_WAIT)) continue;
    uint32_t by = ppi_row_of_thread(model, call->ended_by);
    if (by == PPI_NONE || by == call->row || !model->rows[by].num_outer ||
        !model->rows[call->row].num_outer)
      continue;
    model->rows[by].is_linked = model->rows[call->row].is_linked = true;
    model->are_linked = true;
  }
}

// Waits under one name differ by the range that ends them, until names are
// folded.
static void fold_names(ppi_limit_calls *calls, uint32_t waits) {
  for (size_t i = 0; i < calls->num; i++) {
    ppi_limit_call *call = &calls->items[i];
    if ((call->flags & PPI_CALL_WAIT) != waits) continue;
    uint32_t by = calls->fill.ids.names[call->name].waits_by;
    call->ended_in =
        by ? ppi_table_ids_folded(&calls->fill.ids, by - 1) + 1 : 0;
    call->name = ppi_table_ids_folded(&calls->fill.ids, call->name);
  }
}

bool ppi_model_prepare(ppi_limit_model *model, ppi_limit_calls *calls) {
  if (!ppi_limit_calls_end(calls)) return false;
  model->calls = calls->items;
  model->num_calls = calls->num;
  model->ids = &calls->fill.ids;
  model->are_links = calls->are_links;
  model->loop_thread = model->begins_loop = PPI_NONE;
  fold_names(calls, 0);
  close_gaps(calls);
  if (model->loop && model->loop->is_wanted &&
      !ppi_loop_keep(model->loop, model))
    return false;
  fold_names(calls, PPI_CALL_WAIT);
  find_span(model);
  bool is_done = drop_containers(model) && drop_wrappers(model) &&
                 inherit(model) && put_in_order(model) &&
                 settle_tasks(model, calls->flows) && list_names(model) &&
                 find_medians(model) && fill_rows(model);
  if (is_done) link_rows(model);
  return is_done;
}

void ppi_model_clear(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_rows && model->rows; i++) {
    PPI_FREE_ALL(model->rows[i].outer, model->rows[i].between,
                 model->rows[i].parts);
  }
  for (size_t i = 0; i < model->num_stations; i++) {
    PPI_FREE_ALL(model->stations[i].rows, model->stations[i].stages,
                 model->stations[i].borders_ns, model->stations[i].taken,
                 model->stations[i].label);
  }
  PPI_FREE_ALL(model->units_of, model->works, model->names, model->by_name,
               model->rows, model->units, model->unit_calls, model->next_call,
               model->waits, model->working_ns, model->stations);
  ppi_intervals_clear(&model->left_out);
  ppi_intervals_clear(&model->pauses);
}
