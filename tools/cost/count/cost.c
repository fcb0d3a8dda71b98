// SPDX-License-Identifier: Apache-2.0
#include "cost/count/cost.h"

#include "base/mem.h"

void ppi_cost_clear(ppi_cost *cost) {
  ppi_arena_clear(&cost->shapes.arena);
  ppi_free(cost->shapes.causes);
  ppi_free(cost->rows);
  *cost = (ppi_cost){.num_rows = 0};
}
