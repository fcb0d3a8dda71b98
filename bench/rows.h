// SPDX-License-Identifier: Apache-2.0
//
// Figures for the one table of `./dev bench`: lines that begin with "row", in
// columns parted by tabs, after whatever a benchmark prints for its own reader.
#pragma once

#if defined __x86_64__
#include <cpuid.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// `bound` is the most that the figure may be; a negative one is the least, and
// 0 is none.
static inline void bench_row(const char *what, double figure, const char *unit,
                             double bound) {
  printf("row\t%s\t%.4g\t%s\t%.4g\n", what, figure, unit, bound);
}

static inline bool bench_is_intel(void) {
#if defined __x86_64__
  unsigned most, words[3];
  return __get_cpuid(0, &most, &words[0], &words[2], &words[1]) &&
         memcmp(words, "GenuineIntel", sizeof words) == 0;
#else
  return false;
#endif
}

// A clock read hides some of a marker's work. That part differs by processor,
// and so do the bounds.
static inline double bench_bound(double amd, double intel) {
  return bench_is_intel() ? intel : amd;
}
