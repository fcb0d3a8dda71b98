// SPDX-License-Identifier: Apache-2.0
//
// Numbers from a program: bytes, those in a row's folded names, by place, and a
// counter's values.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

// Allocated less freed memory, by where it is.
enum { PPI_MEMORY_HOST = 0, PPI_MEMORY_DEVICE, PPI_NUM_MEMORIES };
typedef struct ppi_net_bytes {
  int64_t bytes[PPI_NUM_MEMORIES];
} ppi_net_bytes;

// Sums wrap as unsigned, so that no garbage overflows.
static inline void ppi_net_add(ppi_net_bytes *into, const ppi_net_bytes *from) {
  for (int i = 0; i < PPI_NUM_MEMORIES; i++)
    into->bytes[i] =
        (int64_t)((uint64_t)into->bytes[i] + (uint64_t)from->bytes[i]);
}
static inline void ppi_net_take(ppi_net_bytes *into,
                                const ppi_net_bytes *from) {
  for (int i = 0; i < PPI_NUM_MEMORIES; i++)
    into->bytes[i] =
        (int64_t)((uint64_t)into->bytes[i] - (uint64_t)from->bytes[i]);
}

// Sums saturate at the greatest number, so that their order is irrelevant.
static inline uint64_t ppi_bytes_sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

typedef struct ppi_number_sums {
  uint64_t n;  // names with a number in this place
  uint64_t min, max;
  uint64_t sum;  // UINT64_MAX: that or more
} ppi_number_sums;

// All zero is the empty one. Adding and merging in any order gives equal
// results.
typedef struct ppi_numbers {
  ppi_number_sums at[PPROF_MOST_NUMBERS];
  uint64_t num_too_much;  // PPROF_NAME_TOO_MUCH
} ppi_numbers;

// ppi_numbers_add adds the numbers of a name that came `times` times.
void ppi_numbers_add(ppi_numbers *numbers, const pprof_numbers *name,
                     uint64_t times);
void ppi_numbers_merge(ppi_numbers *into, const ppi_numbers *from);
// ppi_numbers_of_fold turns the numbers of sites called `name` into the numbers
// of `shape`, the folded name. `times` is the number of the name's ranges. A
// number without a place is left out.
void ppi_numbers_of_fold(ppi_numbers *numbers, const char *name,
                         const char *shape, uint64_t times);

// A counter's values over time. A value lasts until the next one of its window,
// so a window's last value has no time. All zero is the empty one.
typedef struct ppi_gauge {
  uint64_t n;
  double sum, min, max;
  double area;                        // sum of value * ns
  uint64_t span_ns, max_ns;           // time of all values; of the greatest
  uint64_t longest_ns, longest_from;  // longest stretch of the greatest
  // The latest value, and since when it is unchanged.
  double last;
  uint64_t last_ns, since_ns;
  uint32_t window;
} ppi_gauge;

// ppi_gauge_add takes values in the order of time.
void ppi_gauge_add(ppi_gauge *gauge, double value, uint64_t time_ns,
                   uint32_t window);
void ppi_gauge_merge(ppi_gauge *into, const ppi_gauge *from);

PPROF_END_C_
