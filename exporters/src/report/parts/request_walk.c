// SPDX-License-Identifier: Apache-2.0
//
// Walks one request: gives each moment to a part, and finds the longest path.
#include "report/parts/request_walk.h"
#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

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

typedef enum border_kind {
  BORDER_END = 0,  // of any of the others
  BORDER_HOST,
  BORDER_PATH,  // a host part on the longest path
  BORDER_QUEUE,
  BORDER_DEVICE,
  NUM_BORDER_KINDS
} border_kind;

// The value of a border, from the high bits: the kind that begins or
// BORDER_END, the part, the kind that ends.
static uint64_t border_of(border_kind kind, size_t part, border_kind ends) {
  return (uint64_t)kind << 40 | (uint64_t)part << 8 | ends;
}

static void add_border(ppi_keyed *borders, size_t *num, uint64_t time_ns,
                       uint64_t value) {
  borders[(*num)++] = (ppi_keyed){time_ns, value};
}

static void list_path(const ppi_walk *walk, ppi_keyed *borders, size_t *num) {
  for (size_t i = 0; walk->path && i < walk->path->num; i++) {
    const ppi_path_piece *piece = &walk->path->items[i];
    const ppi_request_part *part = &walk->parts[piece->part];
    if (on_device(part) || part->is_whole) continue;
    add_border(borders, num, piece->start_ns,
               border_of(BORDER_PATH, piece->part, BORDER_END));
    add_border(borders, num, piece->end_ns,
               border_of(BORDER_END, piece->part, BORDER_PATH));
  }
}

// Host starts come first, already in order, so there is less to sort.
static size_t list_borders(const ppi_walk *walk, ppi_keyed *borders) {
  size_t num = 0;
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    if (!part->is_whole && part->end_ns > part->start_ns)
      add_border(borders, &num, part->start_ns,
                 border_of(BORDER_HOST, i, BORDER_END));
  }
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    if (!part->is_whole && part->end_ns > part->start_ns)
      add_border(borders, &num, part->end_ns,
                 border_of(BORDER_END, i, BORDER_HOST));
    if (!on_device(part)) continue;
    if (part->device_start_ns > part->start_ns) {
      add_border(borders, &num, part->start_ns,
                 border_of(BORDER_QUEUE, i, BORDER_END));
      add_border(borders, &num, part->device_start_ns,
                 border_of(BORDER_END, i, BORDER_QUEUE));
    }
    add_border(borders, &num, part->device_start_ns,
               border_of(BORDER_DEVICE, i, BORDER_END));
    add_border(borders, &num, part->device_end_ns,
               border_of(BORDER_END, i, BORDER_DEVICE));
  }
  list_path(walk, borders, &num);
  ppi_sort_keyed(borders, num);
  return num;
}

// The active parts of one kind, in the order of their begins.
typedef struct active {
  uint32_t *parts;
  size_t num;
} active;

static void drop(active *from, uint32_t part) {
  size_t kept = 0;
  for (size_t i = 0; i < from->num; i++)
    if (from->parts[i] != part) from->parts[kept++] = from->parts[i];
  from->num = kept;
}

// Gives [from_ns, to_ns) to one active part or the queue; true: to none.
static bool count_span(ppi_walk *walk, const active *kinds, uint64_t from_ns,
                       uint64_t to_ns) {
  const active *devices = &kinds[BORDER_DEVICE], *hosts = &kinds[BORDER_HOST];
  if (devices->num) {
    uint32_t at = devices->parts[0];
    uint32_t device = walk->parts[at].device;
    uint64_t contended_ns =
        device < walk->num_devices
            ? ppi_spans_overlap(walk->contended[device].items,
                                walk->contended[device].num, from_ns, to_ns)
            : 0;
    walk->times[at].contended_ns += contended_ns;
    walk->times[at].own_ns += to_ns - from_ns - contended_ns;
  } else if (kinds[BORDER_QUEUE].num) {
    walk->queue_ns += to_ns - from_ns;
  } else if (hosts->num) {
    const active *of = kinds[BORDER_PATH].num ? &kinds[BORDER_PATH] : hosts;
    walk->times[of->parts[of->num - 1]].own_ns += to_ns - from_ns;
  } else {
    walk->hop_ns += to_ns - from_ns;
    return true;
  }
  return false;
}

static void walk_borders(ppi_walk *walk, const ppi_keyed *borders, size_t num,
                         active *kinds) {
  uint64_t now_ns = walk->start_ns, hop_ns = 0;
  for (size_t i = 0; i < num; i++) {
    uint64_t kind = borders[i].value >> 40, ends = borders[i].value & 255;
    uint32_t part = (uint32_t)(borders[i].value >> 8);
    uint64_t time_ns = PPI_MIN(PPI_MAX(borders[i].key, now_ns), walk->end_ns);
    if (time_ns > now_ns)
      hop_ns = count_span(walk, kinds, now_ns, time_ns) ? time_ns - now_ns : 0;
    now_ns = time_ns;
    if (kind == BORDER_END) {
      drop(&kinds[ends], part);
      continue;
    }
    active *into = &kinds[kind];
    into->parts[into->num++] = part;
    walk->times[part].hop_ns += hop_ns;
    hop_ns = 0;
  }
  if (now_ns < walk->end_ns) count_span(walk, kinds, now_ns, walk->end_ns);
}

bool ppi_walk_request(ppi_walk *walk) {
  size_t num_pieces = walk->path ? walk->path->num : 0;
  ppi_keyed *borders = ppi_realloc(
      NULL, (6 * (walk->num + 1) + 2 * num_pieces) * sizeof *borders);
  uint32_t *parts =
      ppi_realloc(NULL, NUM_BORDER_KINDS * (walk->num + 1) * sizeof *parts);
  bool done = false;
  if (borders && parts) {
    active kinds[NUM_BORDER_KINDS];
    for (size_t i = 0; i < NUM_BORDER_KINDS; i++)
      kinds[i] = (active){parts + i * (walk->num + 1), 0};
    walk_borders(walk, borders, list_borders(walk, borders), kinds);
    done = true;
  }
  ppi_free(borders);
  ppi_free(parts);
  return done;
}

// ---- the longest path ----

#define NONE UINT32_MAX

typedef struct link {
  uint64_t start_ns, end_ns;
  uint32_t part;
  bool taken;  // the best path to here ends here
  bool is_on_path;
  uint64_t best_ns;  // of a path that ends here or before
  size_t before;     // the link before it on that path, + 1
} link;

typedef struct links {
  link *items;
  size_t num, capacity;
} links;

static int compare_ends(const void *left, const void *right) {
  const link *a = left, *b = right;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

static uint64_t link_end(const void *at) {
  return ((const link *)at)->end_ns;
}

static bool add_link(links *to, uint64_t start_ns, uint64_t end_ns,
                     size_t part) {
  if (end_ns <= start_ns) return true;
  return PPI_PUSH(to->items, to->num, to->capacity,
                  (link){start_ns, end_ns, (uint32_t)part, false, false, 0, 0});
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

// The nesting of each part, for the longest path.
typedef struct nesting {
  uint32_t *outermost;  // on its row
  uint32_t *below;      // the next one down from `row.top`
  uint32_t *row_of;
  row *rows;
  size_t num_rows;
} nesting;

static void find_rows(const ppi_walk *walk, nesting *to) {
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    const uint64_t start_ns = span_of(part).start_ns;
    const bool is_device = on_device(part);
    const uint32_t id = is_device ? part->stream : part->lane;
    size_t at = to->num_rows;
    while (at && (to->rows[at - 1].id != id ||
                  to->rows[at - 1].is_device != is_device))
      at--;
    if (!at) {
      to->rows[to->num_rows] = (row){start_ns, id, NONE, is_device, false};
      at = ++to->num_rows;
    }
    row *found = &to->rows[at - 1];
    found->is_late |= start_ns < found->start_ns;
    found->start_ns = start_ns;
    to->row_of[i] = (uint32_t)at - 1;
  }
}

// Parts come in the order of their starts, an outer part before its inner ones.
static void find_outermost(const ppi_walk *walk, nesting *to) {
  find_rows(walk, to);
  for (uint32_t i = 0; i < walk->num; i++) {
    const ppi_span span = span_of(&walk->parts[i]);
    row *on = &to->rows[to->row_of[i]];
    to->outermost[i] = i;
    if (!lies_on_row(&walk->parts[i])) continue;
    while (on->top != NONE && !on->is_late &&
           span_of(&walk->parts[on->top]).end_ns < span.start_ns)
      on->top = to->below[on->top];
    uint32_t outer = on->top;
    while (outer != NONE) {
      const ppi_span around = span_of(&walk->parts[outer]);
      if (is_within(&span, &around)) break;
      outer = to->below[outer];
    }
    if (outer != NONE) to->outermost[i] = to->outermost[outer];
    to->below[i] = on->top;
    on->top = i;
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
static bool list_links(const ppi_walk *walk, const uint32_t *outermost,
                       ppi_span *spans, links *to) {
  ppi_span *busy = spans, *taken = spans + walk->num;
  size_t num_busy = list_busy(walk, busy);
  bool listed = true;
  for (size_t i = 0; i < walk->num && listed; i++) {
    const ppi_request_part *part = &walk->parts[i];
    if (outermost[i] != i) continue;
    if (on_device(part))
      listed = add_link(to, part->device_start_ns, part->device_end_ns, i);
    else if (lies_on_row(part))
      listed = list_pieces(walk, i, busy, num_busy, to);
    else
      listed = list_pieces(walk, i, taken, list_taken(walk, i, taken), to);
  }
  return listed;
}

static void find_path(link *items, size_t num) {
  for (size_t i = 0; i < num; i++) {
    link *at = &items[i];
    size_t before =
        ppi_count_up_to(&items->end_ns, i, sizeof *items, at->start_ns);
    uint64_t with_ns =
        at->end_ns - at->start_ns + (before ? items[before - 1].best_ns : 0);
    uint64_t without_ns = i ? items[i - 1].best_ns : 0;
    at->taken = with_ns > without_ns;
    at->best_ns = PPI_MAX(with_ns, without_ns);
    at->before = before;
  }
}

static bool add_piece(ppi_path *path, const ppi_path_piece *piece) {
  if (!path) return true;
  return PPI_PUSH(path->items, path->num, path->capacity, *piece);
}

// The parts within an outermost part, by start. The path has passed the parts
// before `next`; of these, [first, open) may still run.
typedef struct group {
  uint32_t first, open, next, end;  // in `members`
} group;

typedef struct sharing {
  ppi_walk *walk;
  group *groups;  // by outermost part
  ppi_path_piece *members;
} sharing;

static int compare_members(const void *left, const void *right) {
  const ppi_path_piece *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

static uint64_t member_start(const void *member) {
  return ((const ppi_path_piece *)member)->start_ns;
}

static void list_members(sharing *to, const uint32_t *outermost) {
  const ppi_walk *walk = to->walk;
  uint32_t first = 0;
  for (size_t i = 0; i < walk->num; i++) to->groups[outermost[i]].end++;
  for (size_t i = 0; i < walk->num; i++) {
    uint32_t num = to->groups[i].end;
    to->groups[i] = (group){first, first, first, first};
    first += num;
  }
  for (uint32_t i = 0; i < walk->num; i++) {
    const ppi_span span = span_of(&walk->parts[i]);
    to->members[to->groups[outermost[i]].end++] =
        (ppi_path_piece){span.start_ns, span.end_ns, i};
  }
  for (size_t i = 0; i < walk->num; i++) {
    const group *of = &to->groups[i];
    ppi_sort(to->members + of->first, of->end - of->first, sizeof *to->members,
             member_start, compare_members);
  }
}

static bool share_until(const sharing *to, group *of, uint64_t *now_ns,
                        uint64_t until_ns) {
  bool reported = true;
  while (*now_ns < until_ns && of->open > of->first && reported) {
    const ppi_path_piece *inner = &to->members[of->open - 1];
    const ppi_path_piece piece = {*now_ns, PPI_MIN(inner->end_ns, until_ns),
                                  inner->part};
    if (piece.end_ns <= *now_ns) {
      of->open--;
      continue;
    }
    to->walk->times[inner->part].critical_ns += piece.end_ns - *now_ns;
    reported = add_piece(to->walk->path, &piece);
    *now_ns = piece.end_ns;
  }
  return reported;
}

// Each moment of a link belongs to its innermost part, the one that began last.
static bool share_link(const sharing *to, const link *from) {
  group *of = &to->groups[from->part];
  uint64_t now_ns = from->start_ns;
  bool reported = true;
  for (; of->next < of->end && reported; of->next++) {
    const ppi_path_piece begun = to->members[of->next];
    if (begun.start_ns >= from->end_ns) break;
    reported = share_until(to, of, &now_ns, begun.start_ns);
    if (begun.end_ns > begun.start_ns) to->members[of->open++] = begun;
  }
  return reported && share_until(to, of, &now_ns, from->end_ns);
}

static bool follow_path(const sharing *to, const links *all) {
  bool reported = true;
  for (size_t left = all->num; left;) {
    link *at = &all->items[left - 1];
    at->is_on_path = at->taken;
    left = at->taken ? at->before : left - 1;
  }
  for (size_t i = 0; i < all->num && reported; i++)
    if (all->items[i].is_on_path) reported = share_link(to, &all->items[i]);
  return reported;
}

bool ppi_walk_critical(ppi_walk *walk) {
  size_t num = walk->num + 1;
  links all = {0};
  ppi_span *spans = ppi_realloc(NULL, 2 * num * sizeof *spans);
  uint32_t *numbers = ppi_realloc(NULL, 3 * num * sizeof *numbers);
  nesting nested = {numbers, numbers + num, numbers + 2 * num,
                    ppi_realloc(NULL, num * sizeof(row)), 0};
  sharing share = {walk, ppi_alloc(num * sizeof(group)),
                   ppi_realloc(NULL, num * sizeof(ppi_path_piece))};
  bool listed =
      spans && numbers && nested.rows && share.groups && share.members;
  if (listed) {
    find_outermost(walk, &nested);
    listed = list_links(walk, nested.outermost, spans, &all);
  }
  if (listed && all.num) {
    list_members(&share, nested.outermost);
    ppi_sort(all.items, all.num, sizeof *all.items, link_end, compare_ends);
    find_path(all.items, all.num);
    listed = follow_path(&share, &all);
  }
  ppi_free(spans);
  ppi_free(numbers);
  ppi_free(nested.rows);
  ppi_free(share.groups);
  ppi_free(share.members);
  ppi_free(all.items);
  return listed;
}
