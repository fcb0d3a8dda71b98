// SPDX-License-Identifier: Apache-2.0
//
// Ranges that overlap, on rows on which none does: the first row that is free
// when one begins. Ranges may come in any order; the less it is that of their
// begins, the more rows. One thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Ranges that find none of so many rows free share the last one.
enum { PPI_EXPORT_MAX_LANES = 256 };

// All zero is the empty one.
typedef struct ppi_export_lanes {
  uint64_t *ends_ns;  // of the last range of each row
  size_t num, capacity;
} ppi_export_lanes;

// ppi_export_lanes_place answers the range's row, lanes->num before the call if
// it is new; SIZE_MAX when out of memory. *num_cut counts those whose row is
// not free.
size_t ppi_export_lanes_place(ppi_export_lanes *lanes, uint64_t start_ns,
                              uint64_t end_ns, uint64_t *num_cut);
void ppi_export_lanes_clear(ppi_export_lanes *lanes);
