// SPDX-License-Identifier: Apache-2.0
//
// Markers of one part of a program: compiled into the program itself, into a
// library it is linked with and into ones that it loads, each time with another
// PART. Valid C and C++.
#include <pprof/mark.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

#ifdef __cplusplus
extern "C" {
#endif

// Begins five things and answers how many of them it saw switched on: all five,
// or none.
PPROF_API int PART(void);
// The part's own view of the switch that inline code reads.
PPROF_API uint32_t PPROF_CAT_(PART, _epoch)(void);

PPROF_SITE(range, TEXT(PART) " range", PPROF_CATEGORY_CPU_TASK);
PPROF_SITE(point, TEXT(PART) " mark", PPROF_CATEGORY_CPU_TASK);
PPROF_SITE(level, TEXT(PART) " level", PPROF_CATEGORY_CPU_TASK);

int PART(void) {
  PPROF_SCOPE(TEXT(PART) " scope");
  pprof_push(&range);
  pprof_mark(&point);
  pprof_count(&level, 1);
  pprof_range handle = pprof_range_begin(&range);
  pprof_range_end(handle);
  pprof_pop();
  return handle.id ? 5 : 0;
}

uint32_t PPROF_CAT_(PART, _epoch)(void) {
  return __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif
