// SPDX-License-Identifier: Apache-2.0
//
// Decides by a site's name whether it is recorded (choice.h) and whether a
// capture rule watches it (capture.h). Written under the names' lock, read
// without one: a version never changes and lives as long as all versions.
#pragma once

#include "names/choice.h"
#include "rules/schedule.h"

PPROF_BEGIN_C_

#define PPI_WATCHED_NAME ((size_t)256)

typedef struct ppi_site_filter {
  struct ppi_site_filter *before;
  uint32_t version;          // from 1
  const ppi_choice *choice;  // NULL: everything is wanted
  ppi_choice *own;           // the same, where no earlier version owns it
  uint32_t num_watched;
  char watched[PPI_SCHEDULE_MAX_RULES][PPI_WATCHED_NAME];
} ppi_site_filter;

// Each makes a version and publishes it in *newest (NULL: none yet). False: no
// memory, or too many watched names. A `name` of NULL forgets all of them.
bool ppi_site_filter_choose(ppi_site_filter **newest, const ppi_choice *choice);
bool ppi_site_filter_watch(ppi_site_filter **newest, const char *name);
void ppi_site_filter_clear(ppi_site_filter **newest);

enum {
  PPI_SITE_IS_EXCLUDED = 1,
  PPI_SITE_IS_WATCHED = 2,
  PPI_SITE_IS_MEASURED = 4
};
uint32_t ppi_site_filter_verdict(const ppi_site_filter *filter,
                                 const char *name, uint32_t category);
// ppi_site_filter_watched answers the filter's own copy of the name, or NULL.
const char *ppi_site_filter_watched(const ppi_site_filter *filter,
                                    const char *name);

PPROF_END_C_
