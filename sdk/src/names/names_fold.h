// SPDX-License-Identifier: Apache-2.0
//
// Folds names given at run time (fold.h): names that differ in numbers alone
// are one site. Looking a folded name up takes no lock.
#pragma once

#include "event/fold.h"
#include "names/names.h"

// ppi_names_category answers the category that the first `len` bytes of a name
// of run time have: the one that is chosen for it, or else `given`.
uint32_t ppi_names_category(const ppi_names *names, const char *name,
                            size_t len, uint32_t given);
// ppi_names_folds: does a name of this origin fold, once its shape does? Of
// `name` the first `len` bytes count.
bool ppi_names_folds(const ppi_names *names, bool is_nvtx, const char *name,
                     size_t len);
// A sink's input for a folded name beside its site: nothing where names are
// stored as hashes.
typedef enum ppi_reported {
  PPI_REPORTED_NOTHING = 0,
  PPI_REPORTED_NUMBERS,
  PPI_REPORTED_IN_FULL  // and whether they make it up
} ppi_reported;
// ppi_names_folded answers the site that the first `len` bytes of a name fold
// into, with their numbers and the verdict on the name itself
// (PPI_SITE_IS_...). 0: none so far, or a rule waits for this very name.
typedef struct ppi_folded {
  uint32_t site, verdict;
  const char *shape;  // NULL: what the name itself says counts
  ppi_reported reported;
  pprof_numbers numbers;
} ppi_folded;
bool ppi_names_folded(const ppi_names *names, const char *name, size_t len,
                      uint32_t category, ppi_folded *out);
// ppi_names_learn is ppi_names_site of a name, and learns its shape, too: the
// site of its own, which may fold from then on.
uint32_t ppi_names_learn(ppi_names *names, const char *name, uint32_t category,
                         uint32_t color);
// ppi_names_unlearn is for a site that leaves the table; under the mutex.
void ppi_names_unlearn(ppi_names *names, uint32_t id);
