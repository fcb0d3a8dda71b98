// SPDX-License-Identifier: Apache-2.0
//
// Finished ranges of one lane, in order of arrival, a few bytes each, until a
// horizon has passed them. One thread at a time.
#pragma once

#include "base/base.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

enum {
  PPI_BUFFERED_LOOSE = 1,          // outside its lane's nesting
  PPI_BUFFERED_COMMUNICATION = 2,  // by flag
  PPI_BUFFERED_OPEN = 4,           // open in a checkpoint, not buffered
  PPI_BUFFERED_CUT = 8,            // cut at an edge: not a call
  PPI_BUFFERED_DEVICE = 16,   // host side of a device range that is a phase
  PPI_BUFFERED_WAITS = 32,    // its thread waits for others
  PPI_BUFFERED_APART = 64,    // the answer does not take it from its lane
  PPI_BUFFERED_COUNTED = 128  // its site has counted it, not its path
};

typedef struct ppi_buffered {
  uint64_t start_ns, end_ns;
  uint32_t site;
  uint16_t depth, flags;
} ppi_buffered;

static inline ppi_buffered ppi_buffered_of(const pprof_event *event,
                                           uint32_t flags) {
  ppi_buffered range = {
      event->start_ns,
      event->end_ns > event->start_ns ? event->end_ns : event->start_ns,
      event->site,
      (uint16_t)(event->depth < UINT16_MAX ? event->depth : UINT16_MAX),
      (uint16_t)flags};
  return range;
}

// A range is one word: 16 bits for the site, 21 length, 8 depth, 18 time since
// the previous end. Other ranges have three words: the previous end, the start,
// and the rest with a mark. Pages are therefore read from their end.
#define PPI_HOLD_WORDS 512
#define PPI_HOLD_WIDE ((uint64_t)1 << 63)
#define PPI_HOLD_MOST_LATER ((1u << 18) - 1)
#define PPI_HOLD_MOST_LENGTH ((1u << 21) - 1)
static inline bool ppi_hold_fits(uint32_t site, uint32_t depth) {
  return !(site >> 16 | depth >> 8);
}

typedef struct ppi_hold_page {
  uint64_t last_end_ns, min_start_ns, max_end_ns;
  uint32_t num_words, capacity;
  uint64_t words[];
} ppi_hold_page;

// Whole pages to be used again. All zero is the empty one.
typedef struct ppi_hold_pool {
  ppi_hold_page **pages;
  size_t num, capacity;
} ppi_hold_pool;

// All zero is the empty one.
typedef struct ppi_hold {
  ppi_hold_page **pages;
  size_t num_pages, pages_capacity;
  ppi_hold_page *last;     // of `pages`
  uint64_t last_start_ns;  // of the last range
  bool unsorted;           // not in the order of ppi_buffered_order
  bool any_waits;          // PPI_BUFFERED_WAITS, now or before
} ppi_hold;

// Inner ranges before those around them, by end.
int ppi_buffered_order(const ppi_buffered *a, const ppi_buffered *b);

bool ppi_hold_add_slow(ppi_hold *hold, ppi_hold_pool *pool,
                       const ppi_buffered *range);

// ppi_hold_word answers the word of site and depth, which fit.
static inline uint64_t ppi_hold_word(uint32_t site, uint32_t depth) {
  return (uint64_t)site << 47 | (uint64_t)depth << 18;
}

// ppi_hold_add_word adds a range without flags if it takes a word. Its end is
// not before its start.
static inline bool ppi_hold_add_word(ppi_hold *hold, uint64_t start_ns,
                                     uint64_t end_ns, uint64_t word) {
  ppi_hold_page *page = hold->last;
  if (PPI_UNLIKELY(!page || page->num_words >= page->capacity)) return false;
  uint64_t later_ns = end_ns - page->last_end_ns;
  uint64_t length_ns = end_ns - start_ns;
  if (PPI_UNLIKELY(end_ns <= page->last_end_ns ||
                   later_ns > PPI_HOLD_MOST_LATER ||
                   length_ns > PPI_HOLD_MOST_LENGTH))
    return false;
  page->words[page->num_words++] = word | length_ns << 26 | later_ns;
  page->last_end_ns = end_ns;
  if (start_ns < page->min_start_ns) page->min_start_ns = start_ns;
  hold->last_start_ns = start_ns;
  return true;
}

// ppi_hold_add needs an end that is not before the start, and no flags.
// ppi_hold_add_slow checks the order of ranges that end together.
static inline bool ppi_hold_add(ppi_hold *hold, ppi_hold_pool *pool,
                                const ppi_buffered *range) {
  return (ppi_hold_fits(range->site, range->depth) &&
          ppi_hold_add_word(hold, range->start_ns, range->end_ns,
                            ppi_hold_word(range->site, range->depth))) ||
         ppi_hold_add_slow(hold, pool, range);
}

// ppi_buffered_is_passed: the whole range lies before the horizon; an empty
// range at the horizon does not.
static inline bool ppi_buffered_is_passed(const ppi_buffered *range,
                                          uint64_t horizon_ns) {
  if (horizon_ns == UINT64_MAX) return true;
  return range->end_ns <= horizon_ns && range->start_ns < horizon_ns;
}

#define PPI_HOLD_AHEAD 32

// The next range to read, going back through a page.
typedef struct ppi_hold_place {
  const uint64_t *words;
  uint64_t end_ns;  // of the range with the last words
  uint32_t num_words;
} ppi_hold_place;

static inline ppi_hold_place ppi_hold_last(const ppi_hold_page *page) {
  ppi_hold_place last = {page->words, page->last_end_ns, page->num_words};
  return last;
}

// ---- a word that is a range of its own, without PPI_HOLD_WIDE ----

static inline uint32_t ppi_hold_site(uint64_t word) {
  return (uint32_t)(word >> 47);
}

static inline uint64_t ppi_hold_length(uint64_t word) {
  return word >> 26 & PPI_HOLD_MOST_LENGTH;
}

static inline uint16_t ppi_hold_depth(uint64_t word) {
  return (uint16_t)(word >> 18 & 0xff);
}

// ppi_hold_step drops the last range, which is such a word.
static inline void ppi_hold_step(ppi_hold_place *at) {
  at->end_ns -= at->words[--at->num_words] & PPI_HOLD_MOST_LATER;
}

// ppi_hold_back takes the last range; the page has one.
static inline void ppi_hold_back(ppi_hold_place *at, ppi_buffered *out) {
  uint64_t word = at->words[at->num_words - 1];
  // With many lanes in turns, no processor predicts this access.
  if (at->num_words > PPI_HOLD_AHEAD)
    __builtin_prefetch(&at->words[at->num_words - 1 - PPI_HOLD_AHEAD]);
  out->end_ns = at->end_ns;
  out->site = (uint32_t)word;
  if (PPI_UNLIKELY(word & PPI_HOLD_WIDE)) {
    out->depth = (uint16_t)(word >> 32);
    out->flags = (uint16_t)(word >> 48 & 0x7fff);
    at->num_words--;
    out->start_ns = at->words[--at->num_words];
    at->end_ns = at->words[--at->num_words];
    return;
  }
  out->site = ppi_hold_site(word);
  out->start_ns = at->end_ns - ppi_hold_length(word);
  out->depth = ppi_hold_depth(word);
  out->flags = 0;
  ppi_hold_step(at);
}

// ppi_hold_read writes the ranges of a page to `out`, which has room for
// PPI_HOLD_WORDS, and answers how many there are.
size_t ppi_hold_read(const ppi_hold_page *page, ppi_buffered *out);

// ppi_hold_count answers how many ranges a page has.
size_t ppi_hold_count(const ppi_hold_page *page);

// ppi_hold_sort puts all ranges in the order of ppi_buffered_order.
bool ppi_hold_sort(ppi_hold *hold, ppi_hold_pool *pool);

// ppi_hold_pass appends the ranges that end by `horizon_ns` to `passed`; NULL
// forgets them. The hold is sorted.
bool ppi_hold_pass(ppi_hold *hold, ppi_hold_pool *pool, uint64_t horizon_ns,
                   ppi_hold *passed);
// ppi_hold_is_behind: all ranges of `hold` end later than all of `before`; both
// are sorted.
bool ppi_hold_is_behind(const ppi_hold *hold, const ppi_hold *before);
void ppi_hold_clear(ppi_hold *hold, ppi_hold_pool *pool);
void ppi_hold_pool_clear(ppi_hold_pool *pool);

PPROF_END_C_
