// SPDX-License-Identifier: Apache-2.0
//
// Walks one request: gives each moment to a part, and finds the longest path.
#include "report/parts/request_walk.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

#define NONE UINT32_MAX

static bool on_device(const ppi_request_part *part) {
  return part->device_end_ns > part->device_start_ns;
}

static uint64_t last_of(const ppi_request_part *part) {
  return PPI_MAX(part->end_ns, part->device_end_ns);
}

int ppi_request_part_order(const void *left, const void *right) {
  const ppi_request_part *a = left, *b = right;
  const uint64_t keys[][2] = {
      {a->flow, b->flow},       {a->start_ns, b->start_ns},
      {last_of(b), last_of(a)}, {a->lane, b->lane},
      {a->site, b->site},       {a->device_start_ns, b->device_start_ns},
      {a->stream, b->stream},   {a->device_end_ns, b->device_end_ns}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

// ---- every moment ----

// Device parts from their submission on, or from their begin, in order.
typedef struct busy_list {
  const ppi_request_part *parts;
  ppi_keyed *items;  // from the high bits: whether it does not wait; its part
  size_t num, next;
} busy_list;

// What goes on at `now_ns`. The path and the busy parts that have ended are
// passed. A part that ended may still be open, below one that has not.
typedef struct moment {
  ppi_walk *walk;
  busy_list busy;
  size_t num_passed;  // of the path
  uint32_t *open;     // host parts, by begin
  size_t num_open;
  uint64_t now_ns, hop_ns, busy_ns;
} moment;

static const ppi_request_part *busy_part(const busy_list *busy) {
  return &busy->parts[(uint32_t)busy->items[busy->next].value];
}

// The device part that began first has each moment. Answers their time.
static uint64_t count_devices(ppi_walk *walk, ppi_keyed *begins) {
  size_t num = 0;
  uint64_t now_ns = walk->start_ns, sum_ns = 0;
  for (size_t i = 0; i < walk->num; i++)
    if (on_device(&walk->parts[i]))
      begins[num++] = (ppi_keyed){walk->parts[i].device_start_ns, i};
  ppi_sort_keyed(begins, num);
  for (size_t i = 0; i < num; i++) {
    const ppi_request_part *part = &walk->parts[begins[i].value];
    ppi_part_times *times = &walk->times[begins[i].value];
    uint64_t from_ns = PPI_MAX(now_ns, part->device_start_ns);
    uint64_t to_ns = PPI_MIN(part->device_end_ns, walk->end_ns);
    if (to_ns <= from_ns) continue;
    uint64_t contended_ns =
        part->device < walk->num_devices
            ? ppi_spans_overlap(walk->contended[part->device].items,
                                walk->contended[part->device].num, from_ns,
                                to_ns)
            : 0;
    times->contended_ns += contended_ns;
    times->own_ns += to_ns - from_ns - contended_ns;
    sum_ns += to_ns - from_ns;
    now_ns = to_ns;
  }
  return sum_ns;
}

static void list_busy_parts(const ppi_walk *walk, busy_list *to) {
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    bool waits = part->device_start_ns > part->start_ns;
    uint64_t start_ns = waits ? part->start_ns : part->device_start_ns;
    if (on_device(part))
      to->items[to->num++] = (ppi_keyed){start_ns, (uint64_t)!waits << 32 | i};
  }
  ppi_sort_keyed(to->items, to->num);
}

static void take_hop(moment *at, uint32_t part) {
  at->walk->times[part].hop_ns += at->hop_ns;
  at->hop_ns = 0;
}

// The end of the device part that has this moment, or waits; or its next begin.
static bool is_busy(moment *at, uint64_t *out) {
  busy_list *busy = &at->busy;
  while (busy->next < busy->num && busy_part(busy)->device_end_ns <= at->now_ns)
    busy->next++;
  *out = UINT64_MAX;
  if (busy->next == busy->num) return false;
  *out = busy->items[busy->next].key;
  if (*out > at->now_ns) return false;
  take_hop(at, (uint32_t)busy->items[busy->next].value);
  *out = busy_part(busy)->device_end_ns;
  return true;
}

// The host part that has this moment: on the path, or else the latest. NONE:
// there is none. `out` is the end of that, or the next begin on the path.
static uint32_t host_owner(moment *at, uint64_t *out) {
  const ppi_request_path *path = at->walk->path;
  const ppi_request_part *parts = at->walk->parts;
  *out = UINT64_MAX;
  for (; path && at->num_passed < path->num; at->num_passed++) {
    const ppi_path_piece *piece = &path->items[at->num_passed];
    const ppi_request_part *part = &parts[piece->part];
    if (piece->end_ns <= at->now_ns || on_device(part) || part->is_whole)
      continue;
    *out = piece->start_ns <= at->now_ns ? piece->end_ns : piece->start_ns;
    if (piece->start_ns <= at->now_ns) return piece->part;
    break;
  }
  for (; at->num_open; at->num_open--) {
    uint32_t part = at->open[at->num_open - 1];
    if (parts[part].end_ns <= at->now_ns) continue;
    *out = PPI_MIN(*out, parts[part].end_ns);
    return part;
  }
  return NONE;
}

static void pass_until(moment *at, uint64_t until_ns) {
  while (at->now_ns < until_ns) {
    uint64_t busy_ns, host_ns, from_ns = at->now_ns;
    if (is_busy(at, &busy_ns)) {
      at->now_ns = PPI_MIN(busy_ns, until_ns);
      at->busy_ns += at->now_ns - from_ns;
      continue;
    }
    uint32_t owner = host_owner(at, &host_ns);
    at->now_ns = PPI_MIN(PPI_MIN(busy_ns, host_ns), until_ns);
    uint64_t *into_ns =
        owner == NONE ? &at->hop_ns : &at->walk->times[owner].own_ns;
    *into_ns += at->now_ns - from_ns;
    if (owner == NONE) at->walk->hop_ns += at->now_ns - from_ns;
  }
}

bool ppi_walk_request(ppi_walk *walk) {
  ppi_keyed *items = ppi_realloc(NULL, (walk->num + 1) * sizeof *items);
  uint32_t *open = ppi_realloc(NULL, (walk->num + 1) * sizeof *open);
  moment at = {.walk = walk,
               .busy = {.parts = walk->parts, .items = items},
               .open = open,
               .now_ns = walk->start_ns};
  bool done = items && open;
  if (done) {
    uint64_t device_ns = count_devices(walk, items);
    list_busy_parts(walk, &at.busy);
    for (uint32_t i = 0; i < walk->num; i++) {
      const ppi_request_part *part = &walk->parts[i];
      if (part->is_whole || part->end_ns <= part->start_ns) continue;
      pass_until(&at, PPI_MIN(part->start_ns, walk->end_ns));
      take_hop(&at, i);
      at.open[at.num_open++] = i;
    }
    pass_until(&at, walk->end_ns);
    walk->queue_ns += at.busy_ns - device_ns;
  }
  ppi_free(items);
  ppi_free(open);
  return done;
}

// ---- the longest path ----

typedef struct links {
  ppi_link *items;
  size_t num, capacity;
} links;

PPI_ORDER(compare_ends, ppi_link, PPI_UP(end_ns) PPI_UP(start_ns) PPI_UP(part))

static uint64_t link_end(const void *at) {
  return ((const ppi_link *)at)->end_ns;
}

static bool add_link(links *to, uint64_t start_ns, uint64_t end_ns,
                     size_t part) {
  if (end_ns <= start_ns) return true;
  return PPI_PUSH(
      to->items, to->num, to->capacity,
      (ppi_link){
          .start_ns = start_ns, .end_ns = end_ns, .part = (uint32_t)part});
}

static bool is_within(const ppi_span *inner, const ppi_span *outer) {
  return inner->start_ns >= outer->start_ns && inner->end_ns <= outer->end_ns;
}

static ppi_span span_of(const ppi_request_part *part) {
  if (on_device(part))
    return (ppi_span){part->device_start_ns, part->device_end_ns};
  return (ppi_span){part->start_ns, part->end_ns};
}

// Ranges of a thread or a stream nest: an outermost one is a link, with its
// inner ranges. Cross-thread ranges and the request's own lie on no row.
static bool lies_on_row(const ppi_request_part *part) {
  return on_device(part) || (!part->is_async && !part->is_whole);
}

// A thread or a stream; `top` is its last part that may contain another one.
typedef struct row {
  uint64_t start_ns;  // of the latest part
  uint32_t id, top;
  bool is_device, is_late;  // is_late: a part begins before its predecessor
} row;

// A part among the others of its row. An outermost part has a list of those
// within, itself the first of all; the path has passed those before `next`.
typedef struct place {
  ppi_span span;
  uint32_t row, outermost;
  uint32_t below;  // the next one down from `row.top`; later from `open`
  uint32_t after;  // the next one of its outermost part, by start
  uint32_t next, open;
} place;

typedef struct nesting {
  ppi_walk *walk;
  place *places;  // by part
  row *rows;
  size_t num_rows, rows_capacity;
} nesting;

static bool find_rows(nesting *to) {
  for (size_t i = 0; i < to->walk->num; i++) {
    const ppi_request_part *part = &to->walk->parts[i];
    const bool is_device = on_device(part);
    const uint32_t id = is_device ? part->stream : part->lane;
    place *own = &to->places[i];
    own->span = span_of(part);
    size_t at = to->num_rows;
    while (at && (to->rows[at - 1].id != id ||
                  to->rows[at - 1].is_device != is_device))
      at--;
    if (!at) {
      const row fresh = {own->span.start_ns, id, NONE, is_device, false};
      if (!PPI_PUSH(to->rows, to->num_rows, to->rows_capacity, fresh))
        return false;
      at = to->num_rows;
    }
    row *found = &to->rows[at - 1];
    found->is_late |= own->span.start_ns < found->start_ns;
    found->start_ns = own->span.start_ns;
    own->row = (uint32_t)at - 1;
  }
  return true;
}

// Parts come in the order of their starts, an outer part before its inner ones.
static void find_outermost(nesting *to) {
  place *places = to->places;
  for (uint32_t i = 0; i < to->walk->num; i++) {
    place *own = &places[i];
    row *on = &to->rows[own->row];
    own->outermost = i;
    own->next = own->open = NONE;
    if (!lies_on_row(&to->walk->parts[i])) continue;
    while (on->top != NONE && !on->is_late &&
           places[on->top].span.end_ns < own->span.start_ns)
      on->top = places[on->top].below;
    uint32_t outer = on->top;
    while (outer != NONE && !is_within(&own->span, &places[outer].span))
      outer = places[outer].below;
    if (outer != NONE) own->outermost = places[outer].outermost;
    own->below = on->top;
    on->top = i;
  }
}

// Begins of a row are in order, unless it is late.
static void list_members(nesting *to) {
  place *places = to->places;
  for (uint32_t i = (uint32_t)to->walk->num; i--;) {
    uint32_t *at = &places[places[i].outermost].next;
    while (*at != NONE && places[*at].span.start_ns < places[i].span.start_ns)
      at = &places[*at].after;
    places[i].after = *at;
    *at = i;
  }
}

// The host does not count while a device works for the request.
static size_t list_busy(const ppi_walk *walk, ppi_span *busy) {
  size_t num = 0;
  for (size_t i = 0; i < walk->num; i++)
    if (on_device(&walk->parts[i])) busy[num++] = span_of(&walk->parts[i]);
  return ppi_spans_unite(busy, num);
}

// A part on no row does not count while another part runs within it. The
// request's own counts only while no part runs or waits for a device.
static size_t list_taken(const ppi_walk *walk, size_t at, ppi_span *taken) {
  const ppi_request_part *part = &walk->parts[at];
  const ppi_span outer = span_of(part);
  size_t num = 0;
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *other = &walk->parts[i];
    ppi_span span = span_of(other);
    if (on_device(other) && part->is_whole)
      span.start_ns = PPI_MIN(span.start_ns, other->start_ns);
    bool is_inner =
        is_within(&span, &outer) && (i > at || !is_within(&outer, &span));
    bool counts = on_device(other) || part->is_whole || is_inner;
    if (i == at || other->is_whole || span.end_ns == span.start_ns) continue;
    if (counts) taken[num++] = span;
  }
  return ppi_spans_unite(taken, num);
}

// Adds the remaining pieces of a host part as links.
static bool list_pieces(const ppi_walk *walk, size_t at, const ppi_span *taken,
                        size_t num, links *to) {
  const ppi_request_part *part = &walk->parts[at];
  uint64_t from_ns = part->start_ns;
  for (size_t i = ppi_spans_after(taken, num, from_ns);
       i < num && from_ns < part->end_ns; i++) {
    if (!add_link(to, from_ns, PPI_MIN(taken[i].start_ns, part->end_ns), at))
      return false;
    from_ns = taken[i].end_ns;
  }
  return add_link(to, from_ns, part->end_ns, at);
}

// `spans` has room for two for each part.
static bool list_links(const nesting *from, ppi_span *spans, links *to) {
  const ppi_walk *walk = from->walk;
  ppi_span *busy = spans, *taken = spans + walk->num;
  size_t num_busy = list_busy(walk, busy);
  bool listed = true;
  for (size_t i = 0; i < walk->num && listed; i++) {
    const ppi_request_part *part = &walk->parts[i];
    if (from->places[i].outermost != i) continue;
    if (on_device(part))
      listed = add_link(to, part->device_start_ns, part->device_end_ns, i);
    else if (lies_on_row(part))
      listed = list_pieces(walk, i, busy, num_busy, to);
    else
      listed = list_pieces(walk, i, taken, list_taken(walk, i, taken), to);
  }
  return listed;
}

// Finds the path with the most time that ends at each link or before.
static void find_path(ppi_link *items, size_t num) {
  for (size_t i = 0; i < num; i++) {
    ppi_link *at = &items[i];
    size_t before =
        ppi_count_up_to(&items->end_ns, i, sizeof *items, at->start_ns);
    uint64_t with_ns =
        at->end_ns - at->start_ns + (before ? items[before - 1].best_ns : 0);
    uint64_t without_ns = i ? items[i - 1].best_ns : 0;
    at->taken = with_ns > without_ns;
    at->best_ns = PPI_MAX(with_ns, without_ns);
    at->before = (uint32_t)before;
  }
}

size_t ppi_links_choose(ppi_link *items, size_t num) {
  size_t first = num;
  ppi_sort(items, num, sizeof *items, link_end, compare_ends);
  find_path(items, num);
  for (size_t left = num; left;) {
    const ppi_link at = items[left - 1];
    if (at.taken) items[--first] = at;
    left = at.taken ? at.before : left - 1;
  }
  memmove(items, items + first, (num - first) * sizeof *items);
  return num - first;
}

static bool share_until(const nesting *from, place *of, uint64_t *now_ns,
                        uint64_t until_ns) {
  ppi_walk *walk = from->walk;
  bool reported = true;
  while (*now_ns < until_ns && of->open != NONE && reported) {
    const place *inner = &from->places[of->open];
    const ppi_path_piece piece = {
        *now_ns, PPI_MIN(inner->span.end_ns, until_ns), of->open};
    if (piece.end_ns <= *now_ns) {
      of->open = inner->below;
      continue;
    }
    walk->times[piece.part].critical_ns += piece.end_ns - *now_ns;
    if (walk->path)
      reported = PPI_PUSH(walk->path->items, walk->path->num,
                          walk->path->capacity, piece);
    *now_ns = piece.end_ns;
  }
  return reported;
}

// Each moment of a link belongs to its innermost part, the one that began last.
static bool share_link(const nesting *from, const ppi_link *at) {
  place *of = &from->places[at->part];
  uint64_t now_ns = at->start_ns;
  bool reported = true;
  while (of->next != NONE && reported) {
    uint32_t part = of->next;
    place *begun = &from->places[part];
    if (begun->span.start_ns >= at->end_ns) break;
    reported = share_until(from, of, &now_ns, begun->span.start_ns);
    of->next = begun->after;
    if (begun->span.end_ns <= begun->span.start_ns) continue;
    begun->below = of->open;
    of->open = part;
  }
  return reported && share_until(from, of, &now_ns, at->end_ns);
}

bool ppi_walk_critical(ppi_walk *walk) {
  size_t num = walk->num + 1;
  links all = {0};
  ppi_span *spans = ppi_realloc(NULL, 2 * num * sizeof *spans);
  nesting nested = {walk, ppi_realloc(NULL, num * sizeof(place)), NULL, 0, 0};
  bool listed = spans && nested.places && find_rows(&nested);
  if (listed) {
    find_outermost(&nested);
    listed = list_links(&nested, spans, &all);
  }
  if (listed && all.num) {
    list_members(&nested);
    all.num = ppi_links_choose(all.items, all.num);
    for (size_t i = 0; i < all.num && listed; i++)
      listed = share_link(&nested, &all.items[i]);
  }
  PPI_FREE_ALL(spans, nested.places, nested.rows, all.items);
  return listed;
}
