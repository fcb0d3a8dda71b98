// SPDX-License-Identifier: Apache-2.0
//
// Fills range tables from a sink's events, and hands each table to one reader.
// Runs on the delivering thread.
#pragma once

#include "report/table/range_table.h"
#include "report/table/table_ids.h"

PPROF_BEGIN_C_

// A table with this many rows does not wait for pending device work.
#define PPI_TABLE_ROWS ((size_t)262144)

// Takes a table, borrowed for the call.
typedef pprof_status (*ppi_table_reader)(void *context,
                                         const ppi_range_table *table,
                                         const ppi_table_ids *ids);

// All zero but the first two is the empty one.
typedef struct ppi_table_fill {
  ppi_table_reader reader;
  void *context;
  bool skips;  // the reader's choice: ranges of the next table are not kept
  size_t most_rows;  // of a table; later ranges are left out; 0: no bound
  ppi_table_ids ids;
  ppi_range *rows;
  size_t num_rows, rows_capacity;
  ppi_range_flows *flow_lists;
  size_t num_lists, lists_capacity;
  uint64_t *flows;
  size_t num_flows, flows_capacity;
  ppi_range_device *devices;
  size_t num_devices, devices_capacity;
  pprof_cpu_use *cpus;
  size_t num_cpus, cpus_capacity;
  ppi_range *shapes;  // of a batch: rows without times
  size_t num_shapes, shapes_capacity;
  uint64_t reported_ns;    // earlier begins were in a table
  uint64_t full_ns;        // later begins are left out; 0: none
  uint64_t checkpoint_ns;  // the last one that advanced
} ppi_table_fill;

pprof_status ppi_table_fill_events(ppi_table_fill *fill,
                                   const pprof_batch *batch);
pprof_status ppi_table_fill_checkpoint(ppi_table_fill *fill,
                                       const pprof_checkpoint *checkpoint);
// ppi_table_fill_finish hands over the remaining rows, and keeps the ids alone.
bool ppi_table_fill_finish(ppi_table_fill *fill);
void ppi_table_fill_clear(ppi_table_fill *fill);

PPROF_END_C_
