// SPDX-License-Identifier: Apache-2.0
//
// Keeps nested host ranges of each lane until a walk has passed them.
#include "report/answer/lanes.h"

#include "base/mem.h"
#include "report/figures/keyed.h"

PPI_ORDER(compare_lanes, ppi_answer_lane, PPI_UP(id))

ppi_answer_lane *ppi_answer_lanes_at(ppi_answer_lanes *lanes, uint32_t id) {
  const ppi_answer_lane key = {.id = id};
  // Most often they are all there.
  if (id && id <= lanes->num && lanes->items[id - 1].id == id)
    return &lanes->items[id - 1];
  return ppi_keyed_sorted(PPI_KEYED(lanes->items, lanes->num, lanes->capacity),
                          &key, compare_lanes);
}

static bool show(ppi_answer_lanes *lanes, ppi_answer_lane *lane,
                 const ppi_hold *buffered) {
  if (!PPI_ROOM(lane->pages, lane->pages_capacity,
                lane->num_pages + buffered->num_pages))
    return false;
  for (size_t i = 0; i < buffered->num_pages; i++)
    lane->pages[lane->num_pages++] = buffered->pages[i];
  lane->last = buffered;
  lanes->any_waits |= buffered->any_waits;
  return true;
}

bool ppi_answer_lanes_begin(ppi_answer_lanes *lanes) {
  bool done = true;
  lanes->is_mixed = lanes->any_waits = false;
  for (size_t i = 0; i < lanes->num && done; i++) {
    ppi_answer_lane *lane = &lanes->items[i];
    lane->num_pages = 0;
    lane->last = NULL;
    if (lane->passed.unsorted) done = ppi_hold_sort(&lane->passed, lanes->pool);
    if (lane->passed.num_pages && done) done = show(lanes, lane, &lane->passed);
  }
  return done;
}

bool ppi_answer_lanes_show(ppi_answer_lanes *lanes, uint32_t id,
                           const ppi_hold *buffered) {
  ppi_answer_lane *lane = ppi_answer_lanes_at(lanes, id);
  if (!lane) return false;
  if (lane->last) lanes->is_mixed |= !ppi_hold_is_behind(buffered, lane->last);
  return show(lanes, lane, buffered);
}

bool ppi_answer_lanes_drop(ppi_answer_lanes *lanes, uint64_t horizon_ns) {
  bool done = true;
  size_t kept = 0;
  for (size_t i = 0; i < lanes->num; i++) {
    ppi_answer_lane *lane = &lanes->items[i];
    lane->num_pages = 0;
    const ppi_hold *passed = &lane->passed;
    if (passed->num_pages && passed->pages[0]->min_start_ns < horizon_ns &&
        done)
      done = ppi_hold_pass(&lane->passed, lanes->pool, horizon_ns, NULL);
    if (lane->passed.num_pages)
      lanes->items[kept++] = *lane;
    else
      ppi_free(lane->pages);
  }
  lanes->num = kept;
  return done;
}

size_t ppi_answer_lanes_count(const ppi_answer_lanes *lanes) {
  size_t num = 0;
  for (size_t i = 0; i < lanes->num; i++)
    for (size_t j = 0; j < lanes->items[i].num_pages; j++)
      num += ppi_hold_count(lanes->items[i].pages[j]);
  return num;
}

size_t ppi_answer_lanes_list(const ppi_answer_lanes *lanes, ppi_item *out) {
  size_t num = 0;
  for (size_t i = 0; i < lanes->num; i++) {
    for (size_t j = 0; j < lanes->items[i].num_pages; j++) {
      ppi_hold_place place = ppi_hold_last(lanes->items[i].pages[j]);
      while (place.num_words) {
        ppi_buffered buffered;
        ppi_hold_back(&place, &buffered);
        if (buffered.flags & PPI_BUFFERED_APART) continue;
        out[num++] = (ppi_item){.start_ns = buffered.start_ns,
                                .end_ns = buffered.end_ns,
                                .site = buffered.site,
                                .lane = lanes->items[i].id,
                                .depth = buffered.depth,
                                .flags = ppi_answer_flags(&buffered),
                                .is_copy = true};
      }
    }
  }
  return num;
}

void ppi_answer_lanes_clear(ppi_answer_lanes *lanes) {
  for (size_t i = 0; i < lanes->num; i++) {
    ppi_hold_clear(&lanes->items[i].passed, lanes->pool);
    ppi_free(lanes->items[i].pages);
  }
  ppi_free(lanes->items);
  *lanes = (ppi_answer_lanes){.pool = lanes->pool};
}
