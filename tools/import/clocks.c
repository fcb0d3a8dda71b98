// SPDX-License-Identifier: Apache-2.0
//
// Finds which times of a trace have one clock.
#include "import/clocks.h"

#include "base/base.h"

// So far from 0 a clock has no event there by chance.
#define FAR_FROM_ZERO_NS (INT64_C(3600) * 1000000000)

static bool has_any(const ppi_clock *clock) {
  return clock->num[PPI_TIMED_FRAME] + clock->num[PPI_TIMED_HOST] +
             clock->num[PPI_TIMED_DEVICE] >
         0;
}

static void widen(ppi_clock *clock, int64_t min_ns, int64_t max_ns) {
  bool is_first = !has_any(clock);
  clock->min_ns = is_first ? min_ns : PPI_MIN(clock->min_ns, min_ns);
  clock->max_ns = is_first ? max_ns : PPI_MAX(clock->max_ns, max_ns);
}

static void join(ppi_clock *into, const ppi_clock *from) {
  widen(into, from->min_ns, from->max_ns);
  for (int i = 0; i <= PPI_TIMED_DEVICE; i++) into->num[i] += from->num[i];
}

// Whether no more than `most_ns` lie between a clock's times and these.
static bool is_near(const ppi_clock *clock, int64_t min_ns, int64_t max_ns,
                    int64_t most_ns) {
  return (__int128)min_ns - clock->max_ns <= most_ns &&
         (__int128)clock->min_ns - max_ns <= most_ns;
}

static size_t find(const ppi_clocks *clocks, int64_t ns) {
  size_t i = 0;
  while (i < clocks->num &&
         !is_near(&clocks->items[i], ns, ns, PPI_CLOCK_GAP_NS))
    i++;
  return i;
}

// One that has become wider may have come near to others.
static void join_near(ppi_clocks *clocks, size_t at) {
  ppi_clock grown = clocks->items[at];
  clocks->items[at] = clocks->items[--clocks->num];
  for (size_t i = 0; i < clocks->num;) {
    if (is_near(&clocks->items[i], grown.min_ns, grown.max_ns,
                PPI_CLOCK_GAP_NS)) {
      join(&grown, &clocks->items[i]);
      clocks->items[i] = clocks->items[--clocks->num];
    } else {
      i++;
    }
  }
  clocks->items[clocks->num++] = grown;
}

void ppi_clocks_add(ppi_clocks *clocks, int64_t start_ns, int64_t end_ns,
                    ppi_timed what) {
  bool has_end = (__int128)end_ns - start_ns <= PPI_CLOCK_GAP_NS;
  int64_t last_ns = has_end ? PPI_MAX(start_ns, end_ns) : start_ns;
  ppi_clock *clock = &clocks->zero;
  if (start_ns != 0) {
    size_t at = find(clocks, start_ns);
    if (at == clocks->num) clocks->items[clocks->num++] = (ppi_clock){0};
    clock = &clocks->items[at];
  }
  widen(clock, start_ns, last_ns);
  clock->num[what]++;
  if (start_ns != 0 && clocks->num > 1)
    join_near(clocks, (size_t)(clock - clocks->items));
}

static void place_zero(ppi_clocks *clocks) {
  const ppi_clock *zero = &clocks->zero;
  if (!has_any(zero)) return;
  for (size_t i = 0; i < clocks->num; i++) {
    if (!is_near(&clocks->items[i], zero->min_ns, zero->max_ns,
                 FAR_FROM_ZERO_NS))
      continue;
    join(&clocks->items[i], zero);
    return;
  }
  if (clocks->num == 0) clocks->items[clocks->num++] = *zero;
}

// More than 0: `a` has more.
static int compare(const ppi_clock *a, const ppi_clock *b) {
  for (int i = PPI_TIMED_HOST; i <= PPI_TIMED_DEVICE; i++)
    if (a->num[i] != b->num[i]) return a->num[i] > b->num[i] ? 1 : -1;
  return 0;
}

const ppi_clock *ppi_clocks_choose(ppi_clocks *clocks) {
  place_zero(clocks);
  const ppi_clock *found = clocks->items;
  bool is_tied = clocks->num == 0;
  for (size_t i = 1; i < clocks->num; i++) {
    int order = compare(&clocks->items[i], found);
    is_tied = order == 0 || (is_tied && order < 0);
    if (order > 0) found = &clocks->items[i];
  }
  return is_tied ? NULL : found;
}
