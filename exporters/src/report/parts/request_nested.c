// SPDX-License-Identifier: Apache-2.0
//
// Walks requests of parts that nest: the outermost ones decide the longest
// path, inner ones take time away from those around them.
#include "report/parts/request_nested.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

#define NONE UINT32_MAX
enum { MOST_DEEP = 512 };

typedef struct nested {
  ppi_walk *walk;
  ppi_nested_room *room;
  uint32_t whole;  // a part; NONE: none
  size_t num_links;
  uint64_t reach_ns;  // the latest end so far
  bool overlaps;      // outermost parts do
} nested;

bool ppi_nested_room_make(ppi_nested_room *room, size_t most_parts,
                          size_t num_lanes) {
  *room =
      (ppi_nested_room){.places = ppi_alloc(most_parts * sizeof *room->places),
                        .links = ppi_alloc(most_parts * sizeof *room->links),
                        .open = ppi_alloc(most_parts * sizeof *room->open),
                        .tops = ppi_alloc(num_lanes * sizeof *room->tops)};
  return room->places && room->links && room->open && room->tops;
}

void ppi_nested_room_clear(ppi_nested_room *room) {
  PPI_FREE_ALL(room->places, room->links, room->open, room->tops);
  *room = (ppi_nested_room){0};
}

// ---- places ----

static bool is_plain(const ppi_request_part *part) {
  return !(part->is_async || part->is_paired || part->waits || part->device ||
           part->device_start_ns || part->device_end_ns);
}

// Nothing goes on until `until_ns`, when part `next` begins; NONE: none does.
static void pass_hop(nested *at, uint64_t until_ns, uint32_t next) {
  ppi_walk *walk = at->walk;
  if (until_ns <= at->reach_ns) return;
  walk->hop_ns += until_ns - at->reach_ns;
  if (next != NONE) walk->times[next].hop_ns = until_ns - at->reach_ns;
  if (at->whole == NONE) return;
  const ppi_request_part *whole = &walk->parts[at->whole];
  uint64_t from_ns = PPI_MAX(at->reach_ns, whole->start_ns);
  uint64_t to_ns = PPI_MIN(until_ns, whole->end_ns);
  if (to_ns > from_ns) walk->times[at->whole].critical_ns += to_ns - from_ns;
}

static void begin_outermost(nested *at, uint32_t number) {
  const ppi_request_part *part = &at->walk->parts[number];
  at->room->places[number] = (ppi_part_place){
      .around = NONE, .outermost = number, .stage = part->site};
  if (part->end_ns == part->start_ns) return;
  pass_hop(at, part->start_ns, number);
  at->overlaps |= part->start_ns < at->reach_ns;
  at->reach_ns = PPI_MAX(at->reach_ns, part->end_ns);
  at->room->links[at->num_links++] = (ppi_link){
      .start_ns = part->start_ns, .end_ns = part->end_ns, .part = number};
}

static bool place_part(nested *at, uint32_t number) {
  const ppi_request_part *parts = at->walk->parts, *part = &parts[number];
  ppi_part_place *places = at->room->places, *own = &places[number];
  uint64_t *top = &at->room->tops[part->lane];
  uint32_t around = *top > at->room->num_before
                        ? (uint32_t)(*top - at->room->num_before - 1)
                        : NONE;
  while (around != NONE && parts[around].end_ns <= part->start_ns)
    around = places[around].around;
  *top = at->room->num_before + number + 1;
  at->walk->times[number] =
      (ppi_part_times){.own_ns = part->end_ns - part->start_ns};
  if (around == NONE) {
    begin_outermost(at, number);
    return true;
  }
  const ppi_part_place *outer = &places[around];
  *own = (ppi_part_place){.around = around,
                          .outermost = outer->outermost,
                          .stage = outer->stage,
                          .child = outer->level ? outer->child : part->site,
                          .level = outer->level + 1};
  at->walk->times[around].own_ns -= part->end_ns - part->start_ns;
  return parts[around].end_ns >= part->end_ns && own->level < MOST_DEEP;
}

static bool place_all(nested *at) {
  const ppi_request_part *parts = at->walk->parts;
  for (uint32_t i = 0; i < at->walk->num; i++) {
    const ppi_request_part *part = &parts[i];
    if (part->is_whole) {
      if (at->whole != NONE) return false;
      at->whole = i;
      at->walk->times[i] = (ppi_part_times){0};
      continue;
    }
    if (!is_plain(part) || !place_part(at, i)) return false;
  }
  pass_hop(at, at->walk->end_ns, NONE);
  return true;
}

// ---- outermost parts beside each other ----

// The open parts off the path, and the next link of the path.
typedef struct beside {
  const nested *of;
  uint64_t now_ns;
  size_t num_open, next;
} beside;

// The part that began last has each moment that the path leaves.
static void pass_beside(beside *at, uint64_t until_ns) {
  const ppi_walk *walk = at->of->walk;
  const ppi_link *links = at->of->room->links;
  while (at->now_ns < until_ns) {
    uint64_t end_ns = until_ns;
    if (at->next < at->of->num_links) {
      const ppi_link *next = &links[at->next];
      if (next->start_ns <= at->now_ns) {
        at->now_ns = PPI_MAX(at->now_ns, next->end_ns);
        at->next++;
        continue;
      }
      end_ns = PPI_MIN(end_ns, next->start_ns);
    }
    uint32_t part = at->num_open ? at->of->room->open[at->num_open - 1] : NONE;
    if (part != NONE && walk->parts[part].end_ns <= at->now_ns) {
      at->num_open--;
      continue;
    }
    if (part != NONE) {
      end_ns = PPI_MIN(end_ns, walk->parts[part].end_ns);
      walk->times[part].own_ns += end_ns - at->now_ns;
    }
    at->now_ns = end_ns;
  }
}

// The path keeps its times; other parts have what it leaves. Of those that
// begin together, figures and the answer take another one as the last unless
// they come by thread: then false.
static bool share_beside(nested *at) {
  const ppi_walk *walk = at->walk;
  const ppi_part_place *places = at->room->places;
  beside left = {.of = at, .now_ns = walk->start_ns};
  const ppi_request_part *last = NULL;
  for (uint32_t i = 0; i < walk->num; i++) {
    const ppi_request_part *part = &walk->parts[i];
    if (i == at->whole || places[places[i].outermost].is_on_path) continue;
    walk->times[i].own_ns = 0;
    if (part->end_ns == part->start_ns) continue;
    if (last && last->start_ns == part->start_ns && last->lane > part->lane)
      return false;
    last = part;
    pass_beside(&left, part->start_ns);
    at->room->open[left.num_open++] = i;
  }
  pass_beside(&left, walk->end_ns);
  return true;
}

static void choose_path(nested *at) {
  ppi_part_place *places = at->room->places;
  const ppi_walk *walk = at->walk;
  if (at->overlaps)
    at->num_links = ppi_links_choose(at->room->links, at->num_links);
  for (size_t i = 0; i < at->num_links; i++)
    places[at->room->links[i].part].is_on_path = true;
  for (size_t i = 0; i < walk->num; i++)
    if (i != at->whole && places[places[i].outermost].is_on_path)
      walk->times[i].critical_ns = walk->times[i].own_ns;
}

bool ppi_walk_nested(ppi_walk *walk, ppi_nested_room *room) {
  nested at = {
      .walk = walk, .room = room, .whole = NONE, .reach_ns = walk->start_ns};
  bool nests = place_all(&at);
  room->num_before += walk->num;
  if (nests) {
    choose_path(&at);
    nests = !at.overlaps || share_beside(&at);
  }
  if (nests) {
    walk->places = room->places;
    return true;
  }
  memset(walk->times, 0, walk->num * sizeof *walk->times);
  walk->hop_ns = 0;
  return false;
}
