// SPDX-License-Identifier: Apache-2.0
//
// Walks the borders of all ranges in time order, and finds the owner of the
// time between two borders.
#include "report/answer/moments.h"

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

#define NONE UINT32_MAX
// A range with MOST_DEEP open ranges on its lane: it owns no moment.
#define BURIED (UINT32_MAX - 1)
#define MOST_DEEP 1024u

// At one time, ends come first. Units enclose ranges that begin with them. A
// submission lies in the range that began with it.
typedef enum border_kind {
  END_HOST = 0,
  END_DEVICE,
  END_QUEUE,
  END_UNIT,
  BEGIN_UNIT,
  BEGIN_HOST,
  SUBMIT,
  BEGIN_QUEUE,
  BEGIN_DEVICE
} border_kind;

typedef struct border {
  uint64_t time_ns;
  border_kind kind;
  uint32_t index;  // of an item, a unit, or a device
  bool is_call;    // it begins here, not before the walk
  bool is_moment;  // it ends where it begins
} border;

// Open ranges, queues or units, in order of begin.
typedef struct active {
  uint32_t *indexes;
  size_t num;
} active;

typedef struct walk_state {
  ppi_moments *walk;
  ppi_moment_room *room;
  size_t num_borders;
  uint32_t *around;  // by item: the range around it on its lane
  active host, devices, queues, units;
  size_t num_passed, num_lanes_passed;  // of the path, of `lanes`
} walk_state;

int ppi_item_compare(const void *left, const void *right) {
  const ppi_item *a = left, *b = right;
  const uint64_t keys[][2] = {
      {a->start_ns, b->start_ns}, {a->lane, b->lane},
      {a->depth, b->depth},       {a->site, b->site},
      {a->flags, b->flags},       {a->device_start_ns, b->device_start_ns},
      {a->device, b->device},     {a->device_end_ns, b->device_end_ns},
      {a->end_ns, b->end_ns}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static uint64_t start_of(const void *item) {
  return ((const ppi_item *)item)->start_ns;
}

void ppi_items_sort(ppi_item *items, size_t num) {
  ppi_sort(items, num, sizeof *items, start_of, ppi_item_compare);
}

// ---- borders ----

// At one time, borders are in order of kind, then index.
static bool add_border(walk_state *at, const border *added) {
  ppi_moment_room *room = at->room;
  ppi_keyed *grown = ppi_grow(room->borders, &room->borders_capacity,
                              at->num_borders + 1, sizeof *grown);
  if (!grown) return false;
  room->borders = grown;
  grown[at->num_borders++] =
      (ppi_keyed){added->time_ns,
                  (uint64_t)added->kind << 40 | (uint64_t)added->index << 8 |
                      (unsigned)added->is_call << 1 | added->is_moment};
  return true;
}

static border border_of(const ppi_keyed *at) {
  return (border){at->key, (border_kind)(at->value >> 40),
                  (uint32_t)(at->value >> 8), at->value & 2, at->value & 1};
}

// Adds the borders of the part of [start, end) inside the walk.
static bool add_borders(walk_state *at, uint32_t index, border_kind begins,
                        border_kind ends, const ppi_span *span) {
  uint64_t from_ns = at->walk->from_ns, to_ns = at->walk->to_ns;
  bool is_moment = span->start_ns == span->end_ns;
  bool is_call = span->start_ns >= from_ns;
  if (span->start_ns >= to_ns || (!is_call && span->end_ns <= from_ns))
    return true;
  border first = {PPI_MAX(span->start_ns, from_ns), begins, index, is_call,
                  is_moment};
  border last = {span->end_ns, ends, index, false, false};
  if (!add_border(at, &first)) return false;
  return is_moment || span->end_ns >= to_ns || add_border(at, &last);
}

static bool add_item(walk_state *at, uint32_t index) {
  const ppi_item *item = &at->walk->items[index];
  const ppi_span host = {item->start_ns, item->end_ns};
  const ppi_span device = {item->device_start_ns, item->device_end_ns};
  bool added = true;
  if (!(item->flags & PPI_ITEM_NO_HOST))
    added = add_borders(at, index, BEGIN_HOST, END_HOST, &host);
  if (device.end_ns == 0 || !added) return added;
  if (item->flags & PPI_ITEM_BORROWS && item->start_ns >= at->walk->from_ns &&
      item->start_ns < at->walk->to_ns) {
    border submit = {item->start_ns, SUBMIT, index, false, false};
    added = add_border(at, &submit);
  }
  return added && add_borders(at, index, BEGIN_DEVICE, END_DEVICE, &device);
}

// The parts of `queued` in which the device is busy; both are in order.
static bool add_queue(walk_state *at, uint32_t device,
                      const ppi_span_list *queued) {
  const ppi_span_list *busy = &at->walk->busy[device];
  bool added = true;
  for (size_t i = 0; i < queued->num && added; i++) {
    const ppi_span *wait = &queued->items[i];
    size_t low = ppi_spans_after(busy->items, busy->num, wait->start_ns);
    for (; added && low < busy->num; low++) {
      if (busy->items[low].start_ns >= wait->end_ns) break;
      ppi_span both = {PPI_MAX(wait->start_ns, busy->items[low].start_ns),
                       PPI_MIN(wait->end_ns, busy->items[low].end_ns)};
      added = add_borders(at, device, BEGIN_QUEUE, END_QUEUE, &both);
    }
  }
  return added;
}

static bool add_queues(walk_state *at) {
  const ppi_moments *walk = at->walk;
  ppi_span_list queued = {0};
  bool added = true;
  for (uint32_t device = 0; device < walk->num_devices && added; device++) {
    if (!walk->busy || !walk->busy[device].num) continue;
    queued.num = 0;
    for (size_t i = 0; i < walk->num_items && added; i++) {
      const ppi_item *item = &walk->items[i];
      if (item->device != device || item->device_end_ns == 0) continue;
      added = ppi_spans_add(&queued, item->start_ns, item->device_start_ns);
    }
    queued.num = ppi_spans_unite(queued.items, queued.num);
    added = added && add_queue(at, device, &queued);
  }
  ppi_free(queued.items);
  return added;
}

static bool list_borders(walk_state *at) {
  const ppi_moments *walk = at->walk;
  bool added = true;
  for (size_t i = 0; i < walk->num_units && added; i++) {
    const ppi_span unit = {walk->units[i].start_ns, walk->units[i].end_ns};
    if (unit.end_ns > unit.start_ns)
      added = add_borders(at, (uint32_t)i, BEGIN_UNIT, END_UNIT, &unit);
  }
  for (size_t i = 0; i < walk->num_items && added; i++)
    added = add_item(at, (uint32_t)i);
  if (added && walk->busy) added = add_queues(at);
  ppi_sort_keyed(at->room->borders, at->num_borders);
  return added;
}

// ---- open ranges ----

static void drop(active *from, uint32_t index) {
  size_t at = from->num;
  while (at && from->indexes[at - 1] != index) at--;
  if (!at) return;
  for (; at < from->num; at++) from->indexes[at - 1] = from->indexes[at];
  from->num--;
}

static uint32_t *top_of(walk_state *at, uint32_t index) {
  return &at->room->tops[at->walk->items[index].lane].top;
}

static uint32_t *depth_of(walk_state *at, uint32_t index) {
  return &at->room->tops[at->walk->items[index].lane].depth;
}

// A range may end while a range that began in it goes on.
static void leave_lane(walk_state *at, uint32_t index) {
  uint32_t *top = top_of(at, index);
  if (at->walk->items[index].flags & PPI_ITEM_LOOSE) return;
  --*depth_of(at, index);
  if (*top == index + 1) {
    *top = at->around[index] == NONE ? 0 : at->around[index] + 1;
    return;
  }
  for (uint32_t i = *top ? *top - 1 : NONE; i != NONE; i = at->around[i])
    if (at->around[i] == index) at->around[i] = at->around[index];
}

// The begin of the latest open frame unit.
static uint64_t frame_start(const walk_state *at) {
  uint64_t since_ns = 0;
  for (size_t i = 0; i < at->units.num; i++) {
    const ppi_moment_unit *unit = &at->walk->units[at->units.indexes[i]];
    if (unit->is_frame) since_ns = PPI_MAX(since_ns, unit->start_ns);
  }
  return since_ns;
}

// Finds the stage, which is the outermost range around `index` that began in
// the unit, and its child. Returns the levels of `index` below the stage.
static unsigned find_stage(const walk_state *at, uint32_t index,
                           uint32_t *out_stage, uint32_t *out_child) {
  const ppi_item *items = at->walk->items;
  uint64_t since_ns = frame_start(at);
  uint32_t child = NONE;
  unsigned depth = 0;
  for (uint32_t outer = at->around[index];
       outer != NONE && items[outer].start_ns >= since_ns;
       outer = at->around[index]) {
    child = index;
    index = outer;
    depth++;
  }
  *out_stage = items[index].site;
  *out_child = child == NONE ? 0 : items[child].site;
  return depth;
}

static bool notify_units(const walk_state *at, ppi_moment *moment) {
  for (size_t i = 0; i < at->units.num; i++) {
    moment->unit = at->units.indexes[i];
    if (!at->walk->on_moment(at->walk->context, moment)) return false;
  }
  return true;
}

static ppi_where host_place(const ppi_item *item) {
  return item->flags & PPI_ITEM_WAITS ? PPI_WHERE_WAITING : PPI_WHERE_HOST;
}

static bool begin_host(walk_state *at, const border *met) {
  uint32_t index = met->index;
  const ppi_item *item = &at->walk->items[index];
  uint32_t *top = top_of(at, index);
  bool is_loose = item->flags & PPI_ITEM_LOOSE;
  at->around[index] = is_loose || !*top ? NONE : *top - 1;
  if (!is_loose && *depth_of(at, index) == MOST_DEEP) {
    at->around[index] = BURIED;
    return true;
  }
  if (!met->is_moment) {
    if (!is_loose) {
      *top = index + 1;
      ++*depth_of(at, index);
    }
    at->host.indexes[at->host.num++] = index;
  }
  if (!met->is_call || !at->units.num) return true;
  ppi_moment call = {.where = host_place(item)};
  unsigned depth = find_stage(at, index, &call.stage, &call.child);
  call.stage_calls = depth == 0;
  call.child_calls = depth == 1;
  return depth > 1 || notify_units(at, &call);
}

static void submit(walk_state *at, uint32_t index) {
  ppi_item *item = &at->walk->items[index];
  uint32_t top = *top_of(at, index);
  uint32_t stage = item->site, child = 0;
  if (top) find_stage(at, top - 1, &stage, &child);
  ppi_item_submit(item, stage, child, at->walk->names);
}

void ppi_item_submit(ppi_item *item, uint32_t stage, uint32_t child,
                     const ppi_account_names *names) {
  bool is_stage = names && names->is_launch(names->ids, stage);
  bool is_child = names && child && names->is_launch(names->ids, child);
  item->stage = is_stage ? item->site : stage;
  item->child = is_stage ? 0 : is_child ? item->site : child;
}

ppi_moment ppi_moment_on_device(const ppi_item *item) {
  bool borrows = item->flags & PPI_ITEM_BORROWS && item->stage;
  return (ppi_moment){.where = PPI_WHERE_DEVICE,
                      .device = item->device,
                      .stage = borrows ? item->stage : item->site,
                      .child = borrows ? item->child : 0};
}

static bool begin_device(walk_state *at, const border *met) {
  const ppi_item *items = at->walk->items;
  const ppi_item *item = &items[met->index];
  active *devices = &at->devices;
  if (!met->is_moment) {
    size_t place = devices->num++;
    for (; place; place--) {
      uint32_t before = devices->indexes[place - 1];
      if (items[before].device_start_ns <= item->device_start_ns) break;
      devices->indexes[place] = before;
    }
    devices->indexes[place] = met->index;
  }
  if (!met->is_call || !at->units.num) return true;
  ppi_moment call = ppi_moment_on_device(item);
  call.stage_calls = 1;
  call.child_calls = call.child != 0;
  return notify_units(at, &call);
}

// ---- the owner of a moment ----

// The host range on the path; NONE: nothing is, or it waits.
static uint32_t path_owner(walk_state *at, uint64_t now_ns) {
  const ppi_moments *walk = at->walk;
  while (at->num_passed < walk->num_path &&
         walk->path[at->num_passed].end_ns <= now_ns)
    at->num_passed++;
  if (at->num_passed == walk->num_path) return NONE;
  const ppi_item_stretch *next = &walk->path[at->num_passed];
  bool waits = walk->items[next->item].flags & PPI_ITEM_WAITS;
  bool is_out = next->start_ns > now_ns || at->around[next->item] == BURIED;
  return waits || is_out ? NONE : next->item;
}

static const ppi_lane_stretch *lane_stretch(walk_state *at, uint64_t now_ns) {
  const ppi_moments *walk = at->walk;
  while (at->num_lanes_passed < walk->num_lanes &&
         walk->lanes[at->num_lanes_passed].end_ns <= now_ns)
    at->num_lanes_passed++;
  const ppi_lane_stretch *next = &walk->lanes[at->num_lanes_passed];
  bool is_in =
      at->num_lanes_passed < walk->num_lanes && next->start_ns <= now_ns;
  return is_in ? next : NULL;
}

// NONE: no range is open on the host.
static uint32_t host_owner(walk_state *at, uint64_t now_ns) {
  const ppi_lane_stretch *only = lane_stretch(at, now_ns);
  uint32_t waiting = NONE;
  for (size_t i = at->host.num; i; i--) {
    uint32_t index = at->host.indexes[i - 1];
    const ppi_item *item = &at->walk->items[index];
    bool is_inner = at->room->tops[item->lane].top == index + 1;
    bool counts = is_inner && (!only || only->lane == item->lane);
    if (!(item->flags & PPI_ITEM_LOOSE) && !counts) continue;
    if (!(item->flags & PPI_ITEM_WAITS)) return index;
    if (waiting == NONE) waiting = index;
  }
  return waiting;
}

static uint32_t least(const active *from) {
  uint32_t least = from->indexes[0];
  for (size_t i = 1; i < from->num; i++)
    least = PPI_MIN(least, from->indexes[i]);
  return least;
}

static bool notify_span(walk_state *at, uint64_t now_ns, uint64_t until_ns) {
  const ppi_item *items = at->walk->items;
  ppi_moment moment;
  if (!at->units.num) return true;
  if (at->devices.num) {
    moment = ppi_moment_on_device(&items[at->devices.indexes[0]]);
  } else if (at->queues.num) {
    moment =
        (ppi_moment){.where = PPI_WHERE_QUEUE, .device = least(&at->queues)};
  } else {
    uint32_t owner = path_owner(at, now_ns);
    if (owner == NONE) owner = host_owner(at, now_ns);
    if (owner == NONE) return true;
    moment = (ppi_moment){.where = host_place(&items[owner])};
    find_stage(at, owner, &moment.stage, &moment.child);
  }
  moment.ns = until_ns - now_ns;
  return notify_units(at, &moment);
}

static bool pass(walk_state *at, const border *met) {
  switch (met->kind) {
    case END_HOST:
      if (at->around[met->index] == BURIED) break;
      drop(&at->host, met->index);
      leave_lane(at, met->index);
      break;
    case END_DEVICE:
      drop(&at->devices, met->index);
      break;
    case END_QUEUE:
      drop(&at->queues, met->index);
      break;
    case END_UNIT:
      drop(&at->units, met->index);
      break;
    case BEGIN_UNIT:
      at->units.indexes[at->units.num++] = met->index;
      break;
    case BEGIN_QUEUE:
      at->queues.indexes[at->queues.num++] = met->index;
      break;
    case BEGIN_HOST:
      return begin_host(at, met);
    case SUBMIT:
      submit(at, met->index);
      break;
    case BEGIN_DEVICE:
      return begin_device(at, met);
  }
  return true;
}

static bool walk_borders(walk_state *at) {
  uint64_t now_ns = at->walk->from_ns;
  bool done = true;
  for (size_t i = 0; i < at->num_borders && done; i++) {
    const border met = border_of(&at->room->borders[i]);
    if (met.time_ns > now_ns) done = notify_span(at, now_ns, met.time_ns);
    now_ns = met.time_ns;
    done = done && pass(at, &met);
  }
  // At the end of the run, open ranges have no end: their time does not count.
  if (!done || at->walk->to_ns == UINT64_MAX) return done;
  return now_ns < at->walk->to_ns ? notify_span(at, now_ns, at->walk->to_ns)
                                  : done;
}

static bool make_room(walk_state *at) {
  const ppi_moments *walk = at->walk;
  ppi_moment_room *room = at->room;
  size_t num = walk->num_items + walk->num_units + walk->num_devices + 1;
  uint32_t *indexes = ppi_grow(room->indexes, &room->indexes_capacity, 5 * num,
                               sizeof *indexes);
  if (!indexes) return false;
  room->indexes = indexes;
  at->around = indexes;
  active *lists[] = {&at->host, &at->devices, &at->queues, &at->units};
  for (size_t i = 0; i < 4; i++) lists[i]->indexes = indexes + (i + 1) * num;
  size_t num_lanes = 1;
  for (size_t i = 0; i < walk->num_items; i++)
    num_lanes = PPI_MAX(num_lanes, walk->items[i].lane + (size_t)1);
  ppi_moment_lane *tops =
      ppi_grow(room->tops, &room->tops_capacity, num_lanes, sizeof *tops);
  if (!tops) return false;
  room->tops = tops;
  for (size_t i = 0; i < walk->num_items; i++)
    tops[walk->items[i].lane] = (ppi_moment_lane){0};
  return true;
}

bool ppi_moments_walk(ppi_moments *walk, ppi_moment_room *room) {
  walk_state at = {.walk = walk, .room = room};
  if (!make_room(&at) || !list_borders(&at)) return false;
  return walk_borders(&at);
}

void ppi_moment_room_clear(ppi_moment_room *room) {
  ppi_free(room->borders);
  ppi_free(room->indexes);
  ppi_free(room->tops);
  *room = (ppi_moment_room){0};
}
