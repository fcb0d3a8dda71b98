// SPDX-License-Identifier: Apache-2.0
//
// Places overlapping ranges on rows without overlap. A range gets the first row
// that is free at its begin. Ranges may come in any order; the order of begins
// needs the fewest rows. One thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Ranges without a free row among so many share the last one.
enum { PPI_EXPORT_MAX_LANES = 256 };

// All zero is the empty one.
typedef struct ppi_export_lanes {
  uint64_t *ends_ns;  // of the last range of each row
  size_t num, capacity;
} ppi_export_lanes;

// ppi_export_lanes_place answers the range's row: a new row has the number
// lanes->num. *num_cut counts ranges on a row that is not free.
size_t ppi_export_lanes_place(ppi_export_lanes *lanes, uint64_t start_ns,
                              uint64_t end_ns, uint64_t *num_cut);
void ppi_export_lanes_clear(ppi_export_lanes *lanes);
