// SPDX-License-Identifier: Apache-2.0
//
// One request from its beginning to its end: what it was doing at every moment,
// and the longest path through it.
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/requests.h"

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
  BORDER_END = 0,  // of any of the three
  BORDER_HOST,
  BORDER_QUEUE,
  BORDER_DEVICE
} border_kind;

typedef struct border {
  uint64_t time_ns;
  uint32_t part;
  uint8_t kind;  // what begins, or BORDER_END
  uint8_t ends;  // what ends there
} border;

static int compare_borders(const void *left, const void *right) {
  const border *a = left, *b = right;
  if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

static void add_borders(border *borders, size_t *num, size_t part,
                        border_kind kind, const ppi_span *span) {
  if (span->end_ns <= span->start_ns) return;
  borders[(*num)++] =
      (border){span->start_ns, (uint32_t)part, (uint8_t)kind, 0};
  borders[(*num)++] =
      (border){span->end_ns, (uint32_t)part, BORDER_END, (uint8_t)kind};
}

static size_t list_borders(const ppi_walk *walk, border *borders) {
  size_t num = 0;
  for (size_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    const ppi_span host = {part->start_ns, part->end_ns};
    const ppi_span queue = {part->start_ns, part->device_start_ns};
    const ppi_span device = {part->device_start_ns, part->device_end_ns};
    if (!part->is_whole) add_borders(borders, &num, i, BORDER_HOST, &host);
    if (!on_device(part)) continue;
    add_borders(borders, &num, i, BORDER_QUEUE, &queue);
    add_borders(borders, &num, i, BORDER_DEVICE, &device);
  }
  if (num > 1) qsort(borders, num, sizeof *borders, compare_borders);
  return num;
}

// What is going on, in the order in which it began.
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

static uint64_t overlap(const ppi_spans *spans, uint64_t start_ns,
                        uint64_t end_ns) {
  size_t low = 0, high = spans->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (spans->items[middle].end_ns <= start_ns)
      low = middle + 1;
    else
      high = middle;
  }
  uint64_t sum_ns = 0;
  for (; low < spans->num && spans->items[low].start_ns < end_ns; low++)
    sum_ns += PPI_MIN(end_ns, spans->items[low].end_ns) -
              PPI_MAX(start_ns, spans->items[low].start_ns);
  return sum_ns;
}

// [from_ns, to_ns) belongs to one of what is active; true: to nothing.
static bool count_span(ppi_walk *walk, const active *kinds, uint64_t from_ns,
                       uint64_t to_ns) {
  const active *devices = &kinds[BORDER_DEVICE], *hosts = &kinds[BORDER_HOST];
  if (devices->num) {
    uint32_t at = devices->parts[0];
    uint32_t device = walk->parts[at].device;
    uint64_t contended_ns =
        device < walk->num_devices
            ? overlap(&walk->contended[device], from_ns, to_ns)
            : 0;
    walk->times[at].contended_ns += contended_ns;
    walk->times[at].own_ns += to_ns - from_ns - contended_ns;
  } else if (kinds[BORDER_QUEUE].num) {
    walk->queue_ns += to_ns - from_ns;
  } else if (hosts->num) {
    walk->times[hosts->parts[hosts->num - 1]].own_ns += to_ns - from_ns;
  } else {
    walk->hop_ns += to_ns - from_ns;
    return true;
  }
  return false;
}

static void walk_borders(ppi_walk *walk, const border *borders, size_t num,
                         active *kinds) {
  uint64_t now_ns = walk->start_ns, hop_ns = 0;
  for (size_t i = 0; i < num; i++) {
    const border *at = &borders[i];
    uint64_t time_ns = PPI_MIN(PPI_MAX(at->time_ns, now_ns), walk->end_ns);
    if (time_ns > now_ns)
      hop_ns = count_span(walk, kinds, now_ns, time_ns) ? time_ns - now_ns : 0;
    now_ns = time_ns;
    if (at->kind == BORDER_END) {
      drop(&kinds[at->ends], at->part);
      continue;
    }
    active *into = &kinds[at->kind];
    into->parts[into->num++] = at->part;
    walk->times[at->part].hop_ns += hop_ns;
    hop_ns = 0;
  }
  if (now_ns < walk->end_ns) count_span(walk, kinds, now_ns, walk->end_ns);
}

pprof_status ppi_walk_request(ppi_walk *walk) {
  border *borders = ppi_alloc(6 * (walk->num + 1) * sizeof *borders);
  uint32_t *parts = ppi_alloc(4 * (walk->num + 1) * sizeof *parts);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  if (borders && parts) {
    active kinds[4];
    for (size_t i = 0; i < 4; i++)
      kinds[i] = (active){parts + i * (walk->num + 1), 0};
    walk_borders(walk, borders, list_borders(walk, borders), kinds);
    status = PPROF_STATUS_OK;
  }
  ppi_free(borders);
  ppi_free(parts);
  return status;
}

// ---- the longest path ----

typedef struct link {
  uint64_t start_ns, end_ns;
  uint32_t part;
  uint64_t best_ns;  // of a path that ends here or before
  size_t before;     // the link before it on that path, + 1
  bool taken;        // that path ends here
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

static int compare_spans(const void *left, const void *right) {
  const ppi_span *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static bool add_link(links *to, uint64_t start_ns, uint64_t end_ns,
                     size_t part) {
  if (end_ns <= start_ns) return true;
  if (!PPI_ROOM(to->items, to->capacity, to->num + 1)) return false;
  to->items[to->num++] = (link){start_ns, end_ns, (uint32_t)part, 0, 0, false};
  return true;
}

static bool is_within(const ppi_span *inner, const ppi_span *outer) {
  return inner->start_ns >= outer->start_ns && inner->end_ns <= outer->end_ns;
}

static ppi_span span_of(const ppi_request_part *part) {
  if (on_device(part))
    return (ppi_span){part->device_start_ns, part->device_end_ns};
  return (ppi_span){part->start_ns, part->end_ns};
}

// Ranges of a thread or a stream nest: the outermost one is a link with all
// that is in it. CrossThread ones and the request's own lie on no row.
static bool lies_on_row(const ppi_request_part *part) {
  return on_device(part) || (!part->is_async && !part->is_whole);
}

static bool holds_on_row(const ppi_request_part *outer,
                         const ppi_request_part *inner) {
  ppi_span outer_span = span_of(outer), inner_span = span_of(inner);
  if (!lies_on_row(outer) || !is_within(&inner_span, &outer_span)) return false;
  if (on_device(outer) != on_device(inner)) return false;
  return on_device(outer) ? outer->stream == inner->stream
                          : outer->lane == inner->lane;
}

// Parts come in the order of their starts, an outer one before those in it.
static void find_outermost(const ppi_walk *walk, uint32_t *outermost) {
  for (size_t i = 0; i < walk->num; i++) {
    outermost[i] = (uint32_t)i;
    if (!lies_on_row(&walk->parts[i])) continue;
    for (size_t k = i; k > 0 && outermost[i] == i; k--)
      if (holds_on_row(&walk->parts[k - 1], &walk->parts[i]))
        outermost[i] = outermost[k - 1];
  }
}

// When a device works for the request, the host does not count.
static size_t list_busy(const ppi_walk *walk, ppi_span *busy) {
  size_t num = 0;
  for (size_t i = 0; i < walk->num; i++)
    if (on_device(&walk->parts[i])) busy[num++] = span_of(&walk->parts[i]);
  if (num > 1) qsort(busy, num, sizeof *busy, compare_spans);
  return num;
}

// Nor does a part that lies on no row while something happens within it. The
// request's own has what nothing else has, not even waiting for a device.
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
  if (num > 1) qsort(taken, num, sizeof *taken, compare_spans);
  return num;
}

// What is left of a part on the host.
static bool list_pieces(const ppi_walk *walk, size_t at, const ppi_span *taken,
                        size_t num, links *to) {
  const ppi_request_part *part = &walk->parts[at];
  uint64_t from_ns = part->start_ns;
  for (size_t i = 0; i < num && from_ns < part->end_ns; i++) {
    if (taken[i].end_ns <= from_ns) continue;
    if (!add_link(to, from_ns, PPI_MIN(taken[i].start_ns, part->end_ns), at))
      return false;
    from_ns = PPI_MAX(from_ns, taken[i].end_ns);
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

// The links that end by `time_ns`, among the first `num`.
static size_t ended_by(const link *items, size_t num, uint64_t time_ns) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (items[middle].end_ns <= time_ns)
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}

static void find_path(link *items, size_t num) {
  for (size_t i = 0; i < num; i++) {
    link *at = &items[i];
    size_t before = ended_by(items, i, at->start_ns);
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
  if (!PPI_ROOM(path->items, path->capacity, path->num + 1)) return false;
  path->items[path->num++] = *piece;
  return true;
}

// A moment of a link is that of the innermost part: of those of the link's row
// that are in it, the one that began last.
static bool share_link(ppi_walk *walk, const uint32_t *outermost,
                       const link *from) {
  uint64_t now_ns = from->start_ns;
  bool told = true;
  while (now_ns < from->end_ns && told) {
    uint64_t next_ns = from->end_ns;
    size_t inner = from->part;
    for (size_t i = 0; i < walk->num; i++) {
      ppi_span span = span_of(&walk->parts[i]);
      if (outermost[i] != from->part || span.end_ns <= now_ns) continue;
      bool has_begun = span.start_ns <= now_ns;
      next_ns = PPI_MIN(next_ns, has_begun ? span.end_ns : span.start_ns);
      if (has_begun && span.start_ns >= span_of(&walk->parts[inner]).start_ns)
        inner = i;
    }
    walk->times[inner].critical_ns += next_ns - now_ns;
    const ppi_path_piece piece = {now_ns, next_ns, (uint32_t)inner};
    told = add_piece(walk->path, &piece);
    now_ns = next_ns;
  }
  return told;
}

static bool follow_path(ppi_walk *walk, const uint32_t *outermost,
                        const link *items, size_t num) {
  bool told = true;
  while (num && told) {
    const link *at = &items[num - 1];
    if (at->taken) told = share_link(walk, outermost, at);
    num = at->taken ? at->before : num - 1;
  }
  return told;
}

pprof_status ppi_walk_critical(ppi_walk *walk) {
  links all = {0};
  ppi_span *spans = ppi_alloc((2 * walk->num + 1) * sizeof *spans);
  uint32_t *outermost = ppi_alloc((walk->num + 1) * sizeof *outermost);
  bool listed = spans && outermost;
  if (listed) {
    find_outermost(walk, outermost);
    listed = list_links(walk, outermost, spans, &all);
  }
  if (listed && all.num) {
    qsort(all.items, all.num, sizeof *all.items, compare_ends);
    find_path(all.items, all.num);
    listed = follow_path(walk, outermost, all.items, all.num);
  }
  ppi_free(spans);
  ppi_free(outermost);
  ppi_free(all.items);
  return listed ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}
