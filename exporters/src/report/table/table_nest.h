// SPDX-License-Identifier: Apache-2.0
//
// Rows in their order, each with the range around it.
#pragma once

#include "report/table/range_table.h"

PPROF_BEGIN_C_

// A range that waits for its table.
typedef struct ppi_table_row {
  uint64_t start_ns, end_ns;
  uint32_t name, thread, flags, served, on_device, used, ended_by;
  uint32_t depth, parent;
} ppi_table_row;

// ppi_table_order puts the rows that begin before `until_ns` first, thread by
// thread and in the order of time, into memory of its own, which replaces
// `*rows`; the others come behind them. `out_num` is how many come first.
//
// Errors: NO_MEMORY, with the rows as they were.
pprof_status ppi_table_order(ppi_table_row **rows, size_t num,
                             uint32_t num_threads, uint64_t until_ns,
                             size_t *out_num);
// ppi_table_nest finds the range around each of ordered rows.
void ppi_table_nest(ppi_table_row *rows, size_t num);

PPROF_END_C_
