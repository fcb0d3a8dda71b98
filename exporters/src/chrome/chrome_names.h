// SPDX-License-Identifier: Apache-2.0
//
// The definitions that the Chrome writer keeps, by id.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_chrome_name {
  bool known;
  uint32_t parent;
  uint64_t number;
  // The defined text; for attributes, the members of a launch's shape, each
  // after a comma. NULL for sites and categories.
  char *text;
  char *escaped;  // with quotes; sites and categories only
  size_t escaped_len;
  // The beginning of a site's slices, padded to whole steps of
  // PPI_CHROME_COPY_STEP; NULL: not made yet, or of older categories.
  char *head;
  size_t head_len;
  uint64_t head_version;
} ppi_chrome_name;

typedef struct ppi_chrome_names {
  ppi_chrome_name *items;  // indexed by id
  size_t num_items, capacity;
  uint64_t version;  // how many definitions there were
} ppi_chrome_names;

// ppi_chrome_names_set keeps a copy; the last definition of an id wins.
pprof_status ppi_chrome_names_set(ppi_chrome_names *names,
                                  const pprof_definition *definition);
// NULL when the id was never defined.
const ppi_chrome_name *ppi_chrome_names_get(const ppi_chrome_names *names,
                                            uint32_t id);
void ppi_chrome_names_clear(ppi_chrome_names *names);

PPROF_END_C_
