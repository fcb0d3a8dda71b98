// SPDX-License-Identifier: Apache-2.0
//
// Rows in pieces, and an order in which pieces can be replayed.
#ifndef PPI_WHATIF_ROWS_H_
#define PPI_WHATIF_ROWS_H_

#include "whatif/whatif_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// These answer false when out of memory.
// ppi_whatif_rows_nest puts ranges in order and finds what is around each.
bool ppi_whatif_rows_nest(ppi_whatif_graph *graph);
// ppi_whatif_rows_cut makes the pieces of what is nested.
bool ppi_whatif_rows_cut(ppi_whatif_graph *graph);
// ppi_whatif_rows_order takes causes away that make a circle: what ends at one
// moment.
bool ppi_whatif_rows_order(ppi_whatif_graph *graph);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_ROWS_H_
