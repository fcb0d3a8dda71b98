// SPDX-License-Identifier: Apache-2.0
//
// A walk over copies of the lanes' ranges: any thread may do it, while the
// lanes go on. Without device work.
#pragma once

#include "report/answer/walk.h"

typedef struct ppi_copied_walk {
  ppi_answer_lanes lanes;  // of copies
  uint64_t *words;         // all their pages
  size_t num_words;
  ppi_item *open;
  size_t num_open;
  ppi_moment_unit *units;  // the walk's own
  size_t num_units;
  uint64_t from_ns, to_ns;
  ppi_account *sums;  // by unit
} ppi_copied_walk;

// ppi_walk_copy copies what the walk of `from` reads; its units become the
// copy's. Clear the copy in any case.
bool ppi_walk_copy(ppi_copied_walk *copy, const ppi_walk_back *from,
                   ppi_moment_unit *units);
// ppi_walk_copied fills the sums.
bool ppi_walk_copied(ppi_copied_walk *walk);
void ppi_copied_walk_clear(ppi_copied_walk *walk);
