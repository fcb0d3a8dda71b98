// SPDX-License-Identifier: Apache-2.0
//
// Packs ranges into pages. A lane's first page is small: there may be many
// lanes.
#include "report/spans/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { WIDE_WORDS = 3, FIRST_WORDS = 16 };

int ppi_buffered_order(const ppi_buffered *a, const ppi_buffered *b) {
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  if (a->start_ns != b->start_ns) return a->start_ns > b->start_ns ? -1 : 1;
  if (a->depth != b->depth) return a->depth > b->depth ? -1 : 1;
  return (a->site > b->site) - (a->site < b->site);
}

static ppi_hold_page *new_page(ppi_hold_pool *pool, uint32_t capacity) {
  if (capacity == PPI_HOLD_WORDS && pool->num) return pool->pages[--pool->num];
  return ppi_realloc(NULL, sizeof(ppi_hold_page) + capacity * sizeof(uint64_t));
}

static void give_page(ppi_hold_pool *pool, ppi_hold_page *page) {
  if (page->capacity != PPI_HOLD_WORDS ||
      !PPI_PUSH(pool->pages, pool->num, pool->capacity, page))
    ppi_free(page);
}

static ppi_hold_page *add_page(ppi_hold *hold, ppi_hold_pool *pool) {
  if (!PPI_ROOM(hold->pages, hold->pages_capacity, hold->num_pages + 1))
    return NULL;
  const ppi_hold_page *last = hold->last;
  uint32_t capacity = FIRST_WORDS;
  if (last) capacity = PPI_MIN(4 * last->capacity, PPI_HOLD_WORDS);
  ppi_hold_page *page = new_page(pool, capacity);
  if (!page) return NULL;
  uint64_t base_ns = last ? last->last_end_ns : 0;
  *page = (ppi_hold_page){
      .last_end_ns = base_ns, .min_start_ns = UINT64_MAX, .capacity = capacity};
  hold->pages[hold->num_pages++] = page;
  return hold->last = page;
}

static bool is_wide(const ppi_buffered *range, uint64_t last_end_ns) {
  uint64_t later_ns = range->end_ns - last_end_ns;
  uint64_t length_ns = range->end_ns - range->start_ns;
  return later_ns > PPI_HOLD_MOST_LATER || length_ns > PPI_HOLD_MOST_LENGTH ||
         !ppi_hold_fits(range->site, range->depth) || range->flags;
}

// An empty range contains nothing: its place among ranges of the same end does
// not matter.
static void note_order(ppi_hold *hold, const ppi_buffered *range,
                       uint64_t last_end_ns) {
  bool is_empty = range->start_ns == range->end_ns;
  if (range->end_ns < last_end_ns) hold->unsorted = true;
  if (range->end_ns == last_end_ns && !is_empty &&
      range->start_ns > hold->last_start_ns)
    hold->unsorted = true;
  if (range->end_ns != last_end_ns || !is_empty)
    hold->last_start_ns = range->start_ns;
}

bool ppi_hold_add_slow(ppi_hold *hold, ppi_hold_pool *pool,
                       const ppi_buffered *range) {
  ppi_hold_page *page = hold->last;
  if (!page || page->num_words + WIDE_WORDS > page->capacity)
    page = add_page(hold, pool);
  if (!page) return false;
  if (hold->num_pages > 1 || page->num_words)
    note_order(hold, range, page->last_end_ns);
  else
    hold->last_start_ns = range->start_ns;
  uint64_t *words = &page->words[page->num_words];
  if (is_wide(range, page->last_end_ns)) {
    words[0] = page->last_end_ns;
    words[1] = range->start_ns;
    words[2] = PPI_HOLD_WIDE | (uint64_t)range->flags << 48 |
               (uint64_t)range->depth << 32 | range->site;
    page->num_words += WIDE_WORDS;
  } else {
    words[0] =
        (uint64_t)range->site << 47 | (range->end_ns - range->start_ns) << 26 |
        (uint64_t)range->depth << 18 | (range->end_ns - page->last_end_ns);
    page->num_words++;
  }
  hold->any_waits |= (range->flags & PPI_BUFFERED_WAITS) != 0;
  page->last_end_ns = range->end_ns;
  page->max_end_ns = PPI_MAX(page->max_end_ns, range->end_ns);
  page->min_start_ns = PPI_MIN(page->min_start_ns, range->start_ns);
  return true;
}

size_t ppi_hold_read(const ppi_hold_page *page, ppi_buffered *out) {
  ppi_hold_place at = ppi_hold_last(page);
  size_t num = 0;
  while (at.num_words) ppi_hold_back(&at, &out[num++]);
  for (size_t i = 0; i < num / 2; i++) {
    ppi_buffered swapped = out[i];
    out[i] = out[num - 1 - i];
    out[num - 1 - i] = swapped;
  }
  return num;
}

size_t ppi_hold_count(const ppi_hold_page *page) {
  size_t num = 0;
  for (uint32_t at = page->num_words; at; num++)
    at -= page->words[at - 1] & PPI_HOLD_WIDE ? WIDE_WORDS : 1;
  return num;
}

static int compare_buffered(const void *left, const void *right) {
  return ppi_buffered_order(left, right);
}

bool ppi_hold_sort(ppi_hold *hold, ppi_hold_pool *pool) {
  size_t num = 0;
  ppi_buffered *all =
      ppi_alloc((hold->num_pages * PPI_HOLD_WORDS + 1) * sizeof *all);
  if (!all) return false;
  for (size_t i = 0; i < hold->num_pages; i++)
    num += ppi_hold_read(hold->pages[i], all + num);
  qsort(all, num, sizeof *all, compare_buffered);
  ppi_hold sorted = {0};
  bool done = true;
  for (size_t i = 0; i < num && done; i++)
    done = ppi_hold_add_slow(&sorted, pool, &all[i]);
  ppi_free(all);
  ppi_hold_clear(hold, pool);
  *hold = sorted;
  hold->unsorted = false;
  return done;
}

bool ppi_hold_is_behind(const ppi_hold *hold, const ppi_hold *before) {
  if (!hold->num_pages || !before->num_pages) return true;
  ppi_hold_place place = ppi_hold_last(hold->pages[0]);
  ppi_buffered first = {0};
  while (place.num_words) ppi_hold_back(&place, &first);
  return first.end_ns > before->last->last_end_ns;
}

// Divides the page with the horizon into passed ranges and the rest.
static bool split_page(ppi_hold *hold, ppi_hold_pool *pool,
                       const ppi_hold_page *page, uint64_t horizon_ns,
                       ppi_hold *passed) {
  ppi_buffered ranges[PPI_HOLD_WORDS];
  size_t num = ppi_hold_read(page, ranges);
  bool done = true;
  for (size_t i = 0; i < num && done; i++) {
    bool is_passed = ppi_buffered_is_passed(&ranges[i], horizon_ns);
    ppi_hold *into = is_passed ? passed : hold;
    if (into) done = ppi_hold_add_slow(into, pool, &ranges[i]);
  }
  return done;
}

// An empty range at the horizon is not passed.
static bool is_passed(const ppi_hold_page *page, uint64_t horizon_ns) {
  uint64_t end_ns = PPI_MAX(page->max_end_ns, page->last_end_ns);
  return end_ns < horizon_ns || horizon_ns == UINT64_MAX;
}

// Moves the first pages to `passed`, or back to the pool.
static bool move_pages(ppi_hold *hold, ppi_hold_pool *pool, size_t num,
                       ppi_hold *passed) {
  for (size_t i = 0; !passed && i < num; i++) give_page(pool, hold->pages[i]);
  if (passed && num) {
    if (!PPI_ROOM(passed->pages, passed->pages_capacity,
                  passed->num_pages + num))
      return false;
    passed->unsorted |= !ppi_hold_is_behind(hold, passed);
    passed->any_waits |= hold->any_waits;
    memcpy(passed->pages + passed->num_pages, hold->pages,
           num * sizeof *passed->pages);
    passed->num_pages += num;
    passed->last = hold->pages[num - 1];
    ppi_buffered last;
    ppi_hold_place place = ppi_hold_last(passed->last);
    ppi_hold_back(&place, &last);
    passed->last_start_ns = last.start_ns;
  }
  hold->num_pages -= num;
  if (num && hold->num_pages)
    memmove(hold->pages, hold->pages + num,
            hold->num_pages * sizeof *hold->pages);
  return true;
}

bool ppi_hold_pass(ppi_hold *hold, ppi_hold_pool *pool, uint64_t horizon_ns,
                   ppi_hold *passed) {
  size_t num = 0;
  while (num < hold->num_pages && is_passed(hold->pages[num], horizon_ns))
    num++;
  bool done = move_pages(hold, pool, num, passed);
  if (!done) return false;
  if (!hold->num_pages) {
    ppi_hold_clear(hold, pool);
    return true;
  }
  ppi_hold rest = {0};
  // Ranges that end at the horizon may fill more than one page.
  bool goes_on = true;
  for (num = 0; goes_on && num < hold->num_pages && done; num++) {
    goes_on = hold->pages[num]->last_end_ns <= horizon_ns;
    done = split_page(&rest, pool, hold->pages[num], horizon_ns, passed);
  }
  if (!PPI_ROOM(rest.pages, rest.pages_capacity,
                rest.num_pages + hold->num_pages - num) ||
      !done) {
    ppi_hold_clear(&rest, pool);
    return false;
  }
  for (size_t i = 0; i < num; i++) give_page(pool, hold->pages[i]);
  memcpy(rest.pages + rest.num_pages, hold->pages + num,
         (hold->num_pages - num) * sizeof *rest.pages);
  rest.num_pages += hold->num_pages - num;
  rest.last_start_ns = hold->last_start_ns;
  rest.any_waits = hold->any_waits;
  rest.last = rest.num_pages ? rest.pages[rest.num_pages - 1] : NULL;
  ppi_free(hold->pages);
  *hold = rest;
  if (!rest.last) ppi_hold_clear(hold, pool);
  return true;
}

void ppi_hold_clear(ppi_hold *hold, ppi_hold_pool *pool) {
  for (size_t i = 0; i < hold->num_pages; i++) give_page(pool, hold->pages[i]);
  ppi_free(hold->pages);
  *hold = (ppi_hold){0};
}

void ppi_hold_pool_clear(ppi_hold_pool *pool) {
  for (size_t i = 0; i < pool->num; i++) ppi_free(pool->pages[i]);
  ppi_free(pool->pages);
  *pool = (ppi_hold_pool){0};
}
