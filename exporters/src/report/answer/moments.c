// SPDX-License-Identifier: Apache-2.0
//
// Walks the borders of all ranges in time order, and finds the owner of the
// time between two borders.
#include "report/answer/moments.h"

#include "base/mem.h"

#define NONE UINT32_MAX
// A range with MOST_DEEP open ranges on its lane: it owns no moment.
#define BURIED (UINT32_MAX - 1)
#define MOST_DEEP 1024u
#define UNKNOWN UINT32_MAX  // the level of a range

// At one time, ends come first, then begins by kind. Units enclose ranges that
// begin with them. A submission lies in the range that began with it.
typedef enum border_kind {
  UNIT = 0,
  HOST,
  SUBMIT,
  QUEUE,
  DEVICE,
  NUM_BORDER_KINDS
} border_kind;

enum {
  IS_MOMENT = 1,  // it ends where it begins
  IS_CALL = 2     // it begins here, not before the walk
};

// Open ranges, queues or units, in order of begin.
typedef struct active {
  uint32_t *indexes;
  size_t num;
} active;

typedef struct walk_state {
  ppi_moments *walk;
  ppi_moment_room *room;
  ppi_moment_place *places;  // by item
  uint64_t frame_ns;         // the begin of the latest open frame unit
  active open[NUM_BORDER_KINDS];
  size_t num_passed, num_lanes_passed;  // of the path, of `lanes`
} walk_state;

PPI_ORDER_FOR_ALL(ppi_item_compare, ppi_item,
                  PPI_UP(start_ns) PPI_UP(lane) PPI_UP(depth) PPI_UP(site)
                      PPI_UP(flags) PPI_UP(device_start_ns) PPI_UP(device)
                          PPI_UP(device_end_ns) PPI_UP(end_ns))

static uint64_t start_of(const void *item) {
  return ((const ppi_item *)item)->start_ns;
}

void ppi_items_sort(ppi_item *items, size_t num) {
  ppi_sort(items, num, sizeof *items, start_of, ppi_item_compare);
}

// ---- borders ----

static bool has_room(ppi_moment_borders *of, size_t more) {
  return PPI_ROOM(of->items, of->capacity, of->num + more);
}

// `index` is of an item, a unit, or a device.
static void add_border(ppi_moment_borders *to, uint64_t time_ns,
                       border_kind kind, uint32_t index, unsigned flags) {
  to->items[to->num++] =
      (ppi_keyed){time_ns, (uint64_t)kind << 40 | (uint64_t)index << 8 | flags};
}

static uint32_t index_of(const ppi_keyed *border) {
  return (uint32_t)(border->value >> 8);
}

// Adds the borders of the part of [start, end) inside the walk, for which there
// is room.
static void add_borders(walk_state *at, border_kind kind, uint32_t index,
                        const ppi_span *span) {
  uint64_t from_ns = at->walk->from_ns, to_ns = at->walk->to_ns;
  bool is_moment = span->start_ns == span->end_ns;
  bool is_call = span->start_ns >= from_ns;
  if (span->start_ns >= to_ns || (!is_call && span->end_ns <= from_ns)) return;
  add_border(&at->room->begins, PPI_MAX(span->start_ns, from_ns), kind, index,
             (is_call ? IS_CALL : 0u) | (is_moment ? IS_MOMENT : 0u));
  if (!is_moment && span->end_ns < to_ns)
    add_border(&at->room->ends, span->end_ns, kind, index, 0);
}

static void add_item(walk_state *at, uint32_t index) {
  const ppi_item *item = &at->walk->items[index];
  const ppi_span host = {item->start_ns, item->end_ns};
  const ppi_span device = {item->device_start_ns, item->device_end_ns};
  if (!(item->flags & PPI_ITEM_NO_HOST)) add_borders(at, HOST, index, &host);
  if (device.end_ns == 0) return;
  if (item->flags & PPI_ITEM_BORROWS && item->start_ns >= at->walk->from_ns &&
      item->start_ns < at->walk->to_ns)
    add_border(&at->room->begins, item->start_ns, SUBMIT, index, 0);
  add_borders(at, DEVICE, index, &device);
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
      added = has_room(&at->room->begins, 1) && has_room(&at->room->ends, 1);
      if (added) add_borders(at, QUEUE, device, &both);
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
  ppi_moment_borders *begins = &at->room->begins, *ends = &at->room->ends;
  begins->num = ends->num = 0;
  if (!has_room(begins, walk->num_units + 3 * walk->num_items) ||
      !has_room(ends, walk->num_units + 2 * walk->num_items))
    return false;
  for (size_t i = 0; i < walk->num_units; i++) {
    const ppi_span unit = {walk->units[i].start_ns, walk->units[i].end_ns};
    if (unit.end_ns > unit.start_ns) add_borders(at, UNIT, (uint32_t)i, &unit);
  }
  for (size_t i = 0; i < walk->num_items; i++) add_item(at, (uint32_t)i);
  bool added = !walk->busy || add_queues(at);
  ppi_sort_keyed(begins->items, begins->num);
  ppi_sort_keyed(ends->items, ends->num);
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

// Finds the stage, which is the outermost range around `index` that began in
// the unit, and its child.
static const ppi_moment_place *find_stage(const walk_state *at,
                                          uint32_t index) {
  const ppi_item *items = at->walk->items;
  ppi_moment_place *place = &at->places[index];
  const uint32_t outer = place->around;
  if (place->level != UNKNOWN) return place;
  place->stage = items[index].site;
  place->level = place->child = 0;
  if (outer == NONE || items[outer].start_ns < at->frame_ns) return place;
  const ppi_moment_place *around = find_stage(at, outer);
  place->child = around->level ? around->child : place->stage;
  place->stage = around->stage;
  place->level = around->level + 1;
  return place;
}

static bool notify_units(const walk_state *at, ppi_moment *moment) {
  for (size_t i = 0; i < at->open[UNIT].num; i++) {
    moment->unit = at->open[UNIT].indexes[i];
    if (!at->walk->on_moment(at->walk->context, moment)) return false;
  }
  return true;
}

static ppi_where host_place(const ppi_item *item) {
  return item->flags & PPI_ITEM_WAITS ? PPI_WHERE_WAITING : PPI_WHERE_HOST;
}

// Reports what an open range owns so far, and forgets its stage.
static bool settle(walk_state *at, uint32_t index) {
  ppi_moment_place *place = &at->places[index];
  const bool has_any = place->ns || place->is_call;
  if (has_any) find_stage(at, index);
  ppi_moment own = {.where = host_place(&at->walk->items[index]),
                    .stage = place->stage,
                    .child = place->child,
                    .ns = place->ns,
                    .stage_calls = place->is_call && place->level == 0,
                    .child_calls = place->is_call && place->level == 1};
  place->ns = 0;
  place->is_call = false;
  place->level = UNKNOWN;
  if (!has_any || !(own.ns || own.stage_calls || own.child_calls)) return true;
  return notify_units(at, &own);
}

// Inner ranges first: they know their stages by the ranges around them.
static bool settle_all(walk_state *at) {
  bool done = true;
  for (size_t i = at->open[HOST].num; i-- && done;)
    done = settle(at, at->open[HOST].indexes[i]);
  return done;
}

// A range may end while a range that began in it goes on.
static bool leave_lane(walk_state *at, uint32_t index) {
  uint32_t *top = top_of(at, index);
  const uint32_t around = at->places[index].around;
  bool done = settle(at, index);
  if (at->walk->items[index].flags & PPI_ITEM_LOOSE) return done;
  --*depth_of(at, index);
  if (*top == index + 1) {
    *top = around == NONE ? 0 : around + 1;
    return done;
  }
  for (uint32_t i = *top ? *top - 1 : NONE; i != NONE && done;) {
    uint32_t *next = &at->places[i].around;
    done = settle(at, i);
    i = *next == index ? NONE : *next;
    if (*next == index) *next = around;
  }
  return done;
}

static void add_open(active *to, uint32_t index) {
  to->indexes[to->num++] = index;
}

static bool begin_host(walk_state *at, const ppi_keyed *met) {
  const uint32_t index = index_of(met);
  const ppi_item *item = &at->walk->items[index];
  uint32_t *top = top_of(at, index);
  bool is_loose = item->flags & PPI_ITEM_LOOSE;
  at->places[index] =
      (ppi_moment_place){.around = is_loose || !*top ? NONE : *top - 1,
                         .level = UNKNOWN,
                         .is_call = met->value & IS_CALL && at->open[UNIT].num};
  if (!is_loose && *depth_of(at, index) == MOST_DEEP) {
    at->places[index].around = BURIED;
    return true;
  }
  if (met->value & IS_MOMENT) return settle(at, index);
  if (!is_loose) {
    *top = index + 1;
    ++*depth_of(at, index);
  }
  add_open(&at->open[HOST], index);
  return true;
}

static void submit(walk_state *at, uint32_t index) {
  ppi_item *item = &at->walk->items[index];
  uint32_t top = *top_of(at, index);
  uint32_t stage = item->site, child = 0;
  if (top) {
    const ppi_moment_place *place = find_stage(at, top - 1);
    stage = place->stage;
    child = place->child;
  }
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

static bool begin_device(walk_state *at, const ppi_keyed *met) {
  const ppi_item *items = at->walk->items;
  const ppi_item *item = &items[index_of(met)];
  active *devices = &at->open[DEVICE];
  if (!(met->value & IS_MOMENT)) {
    size_t place = devices->num++;
    for (; place; place--) {
      uint32_t before = devices->indexes[place - 1];
      if (items[before].device_start_ns <= item->device_start_ns) break;
      devices->indexes[place] = before;
    }
    devices->indexes[place] = index_of(met);
  }
  if (!(met->value & IS_CALL) || !at->open[UNIT].num) return true;
  ppi_moment call = ppi_moment_on_device(item);
  call.stage_calls = 1;
  call.child_calls = call.child != 0;
  return notify_units(at, &call);
}

// ---- the owner of a moment ----

// The host range on the path. NONE: nothing is, or it waits, or its host side
// is elsewhere.
static uint32_t path_owner(walk_state *at, uint64_t now_ns) {
  const ppi_moments *walk = at->walk;
  while (at->num_passed < walk->num_path &&
         walk->path[at->num_passed].end_ns <= now_ns)
    at->num_passed++;
  if (at->num_passed == walk->num_path) return NONE;
  const ppi_item_stretch *next = &walk->path[at->num_passed];
  const uint32_t others = PPI_ITEM_WAITS | PPI_ITEM_NO_HOST;
  bool is_other = walk->items[next->item].flags & others;
  bool is_out =
      next->start_ns > now_ns || at->places[next->item].around == BURIED;
  return is_other || is_out ? NONE : next->item;
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
  for (size_t i = at->open[HOST].num; i; i--) {
    uint32_t index = at->open[HOST].indexes[i - 1];
    const ppi_item *item = &at->walk->items[index];
    bool is_inner = at->room->tops[item->lane].top == index + 1;
    bool counts = is_inner && (!only || only->lane == item->lane);
    if (!(item->flags & PPI_ITEM_LOOSE) && !counts) continue;
    if (!(item->flags & (PPI_ITEM_WAITS | PPI_ITEM_BESIDE))) return index;
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
  if (!at->open[UNIT].num) return true;
  if (at->open[DEVICE].num) {
    moment = ppi_moment_on_device(&items[at->open[DEVICE].indexes[0]]);
  } else if (at->open[QUEUE].num) {
    moment = (ppi_moment){.where = PPI_WHERE_QUEUE,
                          .device = least(&at->open[QUEUE])};
  } else {
    uint32_t owner = path_owner(at, now_ns);
    if (owner == NONE) owner = host_owner(at, now_ns);
    if (owner != NONE) at->places[owner].ns += until_ns - now_ns;
    return true;
  }
  moment.ns = until_ns - now_ns;
  return notify_units(at, &moment);
}

static bool change_units(walk_state *at, uint32_t index, bool begins) {
  active *units = &at->open[UNIT];
  bool done = settle_all(at);
  if (begins)
    add_open(units, index);
  else
    drop(units, index);
  at->frame_ns = 0;
  for (size_t i = 0; i < units->num; i++) {
    const ppi_moment_unit *unit = &at->walk->units[units->indexes[i]];
    if (unit->is_frame) at->frame_ns = PPI_MAX(at->frame_ns, unit->start_ns);
  }
  return done;
}

static bool begin(walk_state *at, const ppi_keyed *met) {
  switch (met->value >> 40) {
    case UNIT:
      return change_units(at, index_of(met), true);
    case HOST:
      return begin_host(at, met);
    case SUBMIT:
      submit(at, index_of(met));
      return true;
    case QUEUE:
      add_open(&at->open[QUEUE], index_of(met));
      return true;
    default:
      return begin_device(at, met);
  }
}

static bool end(walk_state *at, const ppi_keyed *met) {
  const uint64_t kind = met->value >> 40;
  const uint32_t index = index_of(met);
  if (kind == UNIT) return change_units(at, index, false);
  if (kind == HOST && at->places[index].around == BURIED) return true;
  drop(&at->open[kind], index);
  return kind != HOST || leave_lane(at, index);
}

static bool walk_borders(walk_state *at) {
  const ppi_moment_borders *begins = &at->room->begins, *ends = &at->room->ends;
  uint64_t now_ns = at->walk->from_ns;
  bool done = true;
  for (size_t i = 0, k = 0; (i < begins->num || k < ends->num) && done;) {
    bool is_end = k < ends->num && (i == begins->num ||
                                    ends->items[k].key <= begins->items[i].key);
    const ppi_keyed *met = is_end ? &ends->items[k++] : &begins->items[i++];
    if (met->key > now_ns) done = notify_span(at, now_ns, met->key);
    now_ns = met->key;
    done = done && (is_end ? end(at, met) : begin(at, met));
  }
  // At the end of the run, open ranges have no end: their time does not count.
  if (done && now_ns < at->walk->to_ns && at->walk->to_ns != UINT64_MAX)
    done = notify_span(at, now_ns, at->walk->to_ns);
  return done && settle_all(at);
}

static bool make_room(walk_state *at) {
  const ppi_moments *walk = at->walk;
  ppi_moment_room *room = at->room;
  size_t num = walk->num_items + walk->num_units + walk->num_devices + 1;
  if (!PPI_ROOM(room->indexes, room->indexes_capacity,
                NUM_BORDER_KINDS * num) ||
      !PPI_ROOM(room->places, room->places_capacity, num))
    return false;
  at->places = room->places;
  for (size_t i = 0; i < NUM_BORDER_KINDS; i++)
    at->open[i].indexes = room->indexes + i * num;
  size_t num_lanes = 1;
  for (size_t i = 0; i < walk->num_items; i++)
    num_lanes = PPI_MAX(num_lanes, walk->items[i].lane + (size_t)1);
  if (!PPI_ROOM(room->tops, room->tops_capacity, num_lanes)) return false;
  for (size_t i = 0; i < walk->num_items; i++)
    room->tops[walk->items[i].lane] = (ppi_moment_lane){0};
  return true;
}

bool ppi_moments_walk(ppi_moments *walk, ppi_moment_room *room) {
  walk_state at = {.walk = walk, .room = room};
  if (!make_room(&at) || !list_borders(&at)) return false;
  return walk_borders(&at);
}

void ppi_moment_room_clear(ppi_moment_room *room) {
  PPI_FREE_ALL(room->begins.items, room->ends.items, room->places,
               room->indexes, room->tops);
  *room = (ppi_moment_room){0};
}
