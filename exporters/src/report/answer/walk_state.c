// SPDX-License-Identifier: Apache-2.0
//
// Turns pages, counts empty ranges and crosses borders of units in walks back.
#include "report/answer/walk_state.h"

#include <stdlib.h>

bool ppi_walk_turn_page(const ppi_walk_state *at, ppi_walk_lane *lane) {
  while (lane->pages_left) {
    const ppi_hold_page *page = lane->pages[--lane->pages_left];
    if (page->min_start_ns >= at->walk->to_ns || !page->num_words) continue;
    lane->place = ppi_hold_last(page);
    return true;
  }
  return false;
}

// Ranges that end at the empty range, or come after it in order, are not around
// it.
bool ppi_walk_take_empty(ppi_walk_state *at, ppi_walk_lane *lane) {
  const ppi_buffered *range = &lane->range;
  const ppi_walk_frame *begun = &lane->begun;
  bool is_late = begun->end_ns && begun->start_ns == range->start_ns &&
                 ppi_walk_is_outer(begun, range);
  if (is_late || at->unit_time == ppi_walk_as_time(range->start_ns)) {
    at->is_odd = true;
    return true;
  }
  size_t num = lane->num_frames;
  while (num && (lane->frames[num - 1].end_ns == range->end_ns ||
                 !ppi_walk_is_outer(&lane->frames[num - 1], range)))
    num--;
  ppi_walk_frame self = {0};
  ppi_walk_set(&self, range);
  if (!ppi_walk_place(at, &self, num ? &lane->frames[num - 1] : NULL))
    return false;
  ppi_walk_count_call(at, &self);
  return true;
}

// ---- units ----

PPI_ORDER(compare_unit_borders, ppi_unit_border, PPI_DOWN(time))

static void add_unit(ppi_walk_state *at, size_t unit) {
  const ppi_walk_back *walk = at->walk;
  uint64_t start_ns = walk->units[unit].start_ns;
  uint64_t end_ns = walk->units[unit].end_ns;
  if (end_ns <= start_ns || start_ns >= walk->to_ns || end_ns <= walk->from_ns)
    return;
  at->borders[at->num_borders++] = (ppi_unit_border){
      ppi_walk_as_time(PPI_MIN(end_ns, walk->to_ns)), unit, false};
  if (start_ns >= walk->from_ns)
    at->borders[at->num_borders++] =
        (ppi_unit_border){ppi_walk_as_time(start_ns), unit, true};
}

void ppi_walk_list_units(ppi_walk_state *at) {
  for (size_t i = 0; i < at->walk->num_units; i++) add_unit(at, i);
  if (at->num_borders > 1)
    qsort(at->borders, at->num_borders, sizeof *at->borders,
          compare_unit_borders);
}

static void drop_unit(ppi_walk_state *at, size_t unit) {
  for (size_t i = 0; i < at->num_active; i++) {
    if (at->active[i] != unit) continue;
    at->active[i] = at->active[--at->num_active];
    return;
  }
}

static bool place_all(ppi_walk_state *at) {
  bool placed = true;
  for (size_t i = 0; i < at->num_lanes; i++) {
    ppi_walk_frame *frames = at->lanes[i].frames;
    for (size_t j = 0; j < at->lanes[i].num_frames && placed; j++)
      placed = ppi_walk_place(at, &frames[j], j ? &frames[j - 1] : NULL);
  }
  return placed;
}

bool ppi_walk_cross_units(ppi_walk_state *at) {
  bool done = ppi_reported_flush(&at->reported, at->walk->accounts, at->active,
                                 at->num_active);
  uint64_t since_ns = 0;
  at->unit_time = ppi_walk_as_time(at->to_ns);
  for (; at->next_border < at->num_borders; at->next_border++) {
    const ppi_unit_border *border = &at->borders[at->next_border];
    if (border->time != at->unit_time) break;
    if (border->begins)
      drop_unit(at, border->unit);
    else
      at->active[at->num_active++] = border->unit;
  }
  for (size_t i = 0; i < at->num_active; i++) {
    const ppi_moment_unit *unit = &at->walk->units[at->active[i]];
    if (unit->is_frame) since_ns = PPI_MAX(since_ns, unit->start_ns);
  }
  if (since_ns == at->since_ns || !done) return done;
  at->since_ns = since_ns;
  return place_all(at);
}

// ---- time and calls by place ----

static bool add_place(ppi_reported *reported, const ppi_map_key *place,
                      size_t number) {
  if (!PPI_ROOM(reported->places, reported->places_capacity, number + 1))
    return false;
  if (!PPI_ROOM(reported->list, reported->list_capacity, number + 1))
    return false;
  reported->places[number] =
      (ppi_reported_place){.sum = {.where = (ppi_where)(place->high >> 32),
                                   .device = (uint32_t)place->high,
                                   .stage = (uint32_t)(place->low >> 32),
                                   .child = (uint32_t)place->low}};
  return true;
}

uint32_t ppi_reported_find_slow(ppi_reported *reported,
                                const ppi_map_key *place,
                                ppi_reported_recent *recent) {
  size_t before = reported->numbers.num;
  size_t number = ppi_map_number(&reported->numbers, *place);
  if (number == SIZE_MAX) return UINT32_MAX;
  if (number == before && !add_place(reported, place, number))
    return UINT32_MAX;
  *recent = (ppi_reported_recent){*place, (uint32_t)number + 1};
  return (uint32_t)number;
}

bool ppi_reported_flush(ppi_reported *reported, ppi_account *accounts,
                        const size_t *units, size_t num_units) {
  bool done = true;
  for (size_t i = 0; i < reported->num; i++) {
    ppi_reported_place *place = &reported->places[reported->list[i]];
    for (size_t j = 0; j < num_units && done; j++)
      done = ppi_account_add(&accounts[units[j]], &place->sum);
    place->is_reported = false;
    place->sum.ns = place->sum.stage_calls = place->sum.child_calls = 0;
  }
  reported->num = 0;
  return done;
}

void ppi_reported_clear(ppi_reported *reported) {
  ppi_map_clear(&reported->numbers);
  ppi_free(reported->places);
  ppi_free(reported->list);
  *reported = (ppi_reported){0};
}
