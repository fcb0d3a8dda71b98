// SPDX-License-Identifier: Apache-2.0
//
// The time of one request, step or run by stage and place, on its way into the
// answer.
#pragma once

#include "base/map.h"
#include "report/answer/moments.h"

PPROF_BEGIN_C_

typedef struct ppi_account_cell {
  uint64_t ns, calls;
  size_t row;    // of the answer, + 1; 0: not known
  bool is_used;  // since the last fold
} ppi_account_cell;

// All zero is the empty one.
typedef struct ppi_account {
  ppi_map places;           // of cells
  ppi_account_cell *cells;  // by number of the place
  size_t capacity;
  uint32_t *used;  // numbers of places, in order
  size_t num_used, used_capacity;
  ppi_map_key last;      // the place of the latest moment
  size_t last_cells[2];  // of its stage and of itself, + 1; 0: none
} ppi_account;

bool ppi_account_add(ppi_account *account, const ppi_moment *moment);
// ppi_account_move adds all of `from`, which it clears.
bool ppi_account_move(ppi_account *into, ppi_account *from);
// ppi_account_fold adds a unit of `length_ns` to the answer; time of no stage
// counts as between stages. Use the account then for the next unit of that
// answer, or clear it.
bool ppi_account_fold(ppi_account *account, uint64_t length_ns,
                      const ppi_account_names *names, ppi_answer *into);
void ppi_account_clear(ppi_account *account);

PPROF_END_C_
