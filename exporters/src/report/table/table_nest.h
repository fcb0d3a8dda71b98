// SPDX-License-Identifier: Apache-2.0
//
// Orders rows and finds the range around each.
#pragma once

#include "report/table/range_table.h"

PPROF_BEGIN_C_

// A range that waits for its table.
typedef struct ppi_table_row {
  uint64_t start_ns, end_ns;
  uint32_t name, thread, flags, served, on_device, used, ended_by;
  uint32_t depth, parent;
} ppi_table_row;

// ppi_table_order sorts the rows that begin before `until_ns` by thread and
// time, and puts the other rows after them. A new array replaces `*rows`;
// `out_num` counts the sorted rows.
//
// Errors: NO_MEMORY, with the rows as they were.
pprof_status ppi_table_order(ppi_table_row **rows, size_t num,
                             uint32_t num_threads, uint64_t until_ns,
                             size_t *out_num);
// ppi_table_nest finds the range around each of ordered rows.
void ppi_table_nest(ppi_table_row *rows, size_t num);

PPROF_END_C_
