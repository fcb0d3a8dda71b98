// SPDX-License-Identifier: Apache-2.0
//
// Markers whose way while no session runs is looked at by marker_code_test.py.
#include "pprof/mark.h"

PPROF_SITE(site, "site", PPROF_CATEGORY_USER_DEFINED);

void one_scope(void);
void one_scope(void) {
  PPROF_SCOPE("scope");
}

void one_push(void);
void one_push(void) {
  pprof_push(&site);
}

void one_pop(void);
void one_pop(void) {
  pprof_pop();
}

void one_mark(void);
void one_mark(void) {
  pprof_mark(&site);
}

void one_count(void);
void one_count(void) {
  pprof_count(&site, 1);
}

void one_flow(void);
void one_flow(void) {
  pprof_flow(1);
}

// Members of such a name are their own; the commas are one argument's.
typedef struct table {
  void (*mark)(pprof_site *);
} table;
void by_pointer(const table *from);
void by_pointer(const table *from) {
  table own = {pprof_mark};
  own.mark(&site);
  from->mark(&site);
  pprof_work(&(pprof_work_amount){sizeof(pprof_work_amount), 1, 2, 3, 4});
}
