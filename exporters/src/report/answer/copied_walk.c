// SPDX-License-Identifier: Apache-2.0
//
// Copies pages of lanes, and walks over the copies.
#include "report/answer/copied_walk.h"

#include <string.h>

#include "base/mem.h"
#include "report/answer/step_path.h"
#include "report/answer/walk_back.h"

static const size_t page_words = sizeof(ppi_hold_page) / sizeof(uint64_t);

static bool is_wanted(const ppi_copied_walk *copy, const ppi_hold_page *page) {
  return page->num_words && page->min_start_ns < copy->to_ns &&
         PPI_MAX(page->max_end_ns, page->last_end_ns) >= copy->from_ns;
}

static void measure(ppi_copied_walk *copy, const ppi_answer_lanes *lanes) {
  for (size_t i = 0; i < lanes->num; i++)
    for (size_t j = 0; j < lanes->items[i].num_pages; j++)
      if (is_wanted(copy, lanes->items[i].pages[j]))
        copy->num_words += page_words + lanes->items[i].pages[j]->num_words;
}

static bool copy_lane(ppi_copied_walk *copy, const ppi_answer_lane *lane,
                      size_t *used) {
  ppi_answer_lane *to = ppi_answer_lanes_at(&copy->lanes, lane->id);
  if (!to || !PPI_ROOM(to->pages, to->pages_capacity, lane->num_pages + 1))
    return false;
  for (size_t i = 0; i < lane->num_pages; i++) {
    const ppi_hold_page *page = lane->pages[i];
    uint64_t *words = copy->words + *used;
    if (!is_wanted(copy, page)) continue;
    memcpy(words, page, sizeof *page + page->num_words * sizeof *page->words);
    to->pages[to->num_pages++] = (const ppi_hold_page *)(const void *)words;
    *used += page_words + page->num_words;
  }
  return true;
}

bool ppi_walk_copy(ppi_copied_walk *copy, const ppi_walk_back *from,
                   ppi_moment_unit *units) {
  const ppi_answer_lanes *lanes = from->lanes;
  bool done = true;
  size_t used = 0;
  *copy = (ppi_copied_walk){
      .lanes = {.any_waits = lanes->any_waits},
      .open = ppi_alloc((from->num_open + 1) * sizeof *copy->open),
      .num_open = from->num_open,
      .units = units,
      .num_units = from->num_units,
      .from_ns = from->from_ns,
      .to_ns = from->to_ns,
      .sums = ppi_alloc((from->num_units + 1) * sizeof *copy->sums)};
  measure(copy, lanes);
  copy->words = ppi_alloc((copy->num_words + 1) * sizeof *copy->words);
  if (!copy->open || !copy->sums || !copy->words) return false;
  for (size_t i = 0; i < lanes->num && done; i++)
    done = copy_lane(copy, &lanes->items[i], &used);
  for (size_t i = 0; i < from->num_open && done; i++) {
    copy->open[i] = from->open[i];
    if (!ppi_answer_lanes_at(&copy->lanes, from->open[i].lane)) done = false;
  }
  return done;
}

static bool take_moment(void *context, const ppi_moment *moment) {
  const ppi_copied_walk *walk = context;
  return ppi_account_add(&walk->sums[moment->unit], moment);
}

// The way for ranges that the walk back does not know.
static bool walk_all(ppi_copied_walk *walk, const ppi_step_path *path) {
  size_t num = ppi_answer_lanes_count(&walk->lanes);
  ppi_item *items = ppi_alloc((num + walk->num_open + 1) * sizeof *items);
  ppi_moment_room room = {0};
  if (!items) return false;
  num = ppi_answer_lanes_list(&walk->lanes, items);
  for (size_t i = 0; i < walk->num_open; i++) items[num++] = walk->open[i];
  ppi_items_sort(items, num);
  ppi_moments moments = {.items = items,
                         .num_items = num,
                         .units = walk->units,
                         .num_units = walk->num_units,
                         .from_ns = walk->from_ns,
                         .to_ns = walk->to_ns,
                         .lanes = path->items,
                         .num_lanes = path->num,
                         .on_moment = take_moment,
                         .context = walk};
  bool done = ppi_moments_walk(&moments, &room);
  ppi_moment_room_clear(&room);
  ppi_free(items);
  return done;
}

bool ppi_walk_copied(ppi_copied_walk *walk) {
  ppi_step_path path = {0};
  ppi_walk_back back = {.lanes = &walk->lanes,
                        .open = walk->open,
                        .num_open = walk->num_open,
                        .units = walk->units,
                        .num_units = walk->num_units,
                        .from_ns = walk->from_ns,
                        .to_ns = walk->to_ns,
                        .accounts = walk->sums};
  bool is_whole = false;
  bool done = ppi_step_path_find(&back, &path);
  back.path = path.items;
  back.num_path = path.num;
  done = done && ppi_walk_back_run(&back, &is_whole);
  for (size_t i = 0; i < walk->num_units && done && !is_whole; i++)
    ppi_account_clear(&walk->sums[i]);
  if (done && !is_whole) done = walk_all(walk, &path);
  ppi_free(path.items);
  return done;
}

void ppi_copied_walk_clear(ppi_copied_walk *walk) {
  for (size_t i = 0; walk->sums && i < walk->num_units; i++)
    ppi_account_clear(&walk->sums[i]);
  ppi_answer_lanes_clear(&walk->lanes);
  PPI_FREE_ALL(walk->words, walk->open, walk->units, walk->sums);
  *walk = (ppi_copied_walk){0};
}
