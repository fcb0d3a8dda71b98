// SPDX-License-Identifier: Apache-2.0
//
// Figures for the one table of `./dev bench`: lines that begin with "row", in
// columns parted by tabs, after whatever a benchmark prints for its own reader.
#ifndef BENCH_ROWS_H_
#define BENCH_ROWS_H_

#include <stdio.h>

// `bound` is the most that the figure may be; a negative one is the least, and
// 0 is none.
static inline void bench_row(const char *what, double figure, const char *unit,
                             double bound) {
  printf("row\t%s\t%.4g\t%s\t%.4g\n", what, figure, unit, bound);
}

#endif  // BENCH_ROWS_H_
