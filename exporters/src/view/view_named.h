// SPDX-License-Identifier: Apache-2.0
//
// Rows of named things, for Operator, Kernel, Memory Manipulation, UserDefined
// and the styles: collecting, sorting, cutting.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// The source of one row.
typedef struct ppi_named {
  const char *name, *category_name;
  uint32_t category;
  uint64_t calls;
  ppi_spread host, device;
  const ppi_spread *timed;     // for the deviation
  const ppi_histogram *times;  // for percentiles
  uint64_t self_ns, own_device_ns;
  ppi_net_bytes memory, own_memory;
  const ppi_report_name *from;  // NULL: of one thread
  ppi_cell key;
} ppi_named;

typedef struct ppi_named_list {
  ppi_named *items;
  size_t num, capacity;
} ppi_named_list;

// ppi_named_add answers false when out of memory.
bool ppi_named_add(ppi_named_list *list, const ppi_named *named);
// The host ranges of a name, and the device time in them.
ppi_named ppi_named_ranges(const ppi_report_name *from);
// The same with the submitting sides of its device ranges.
ppi_named ppi_named_host(const ppi_report_name *from);
// The device side of a name, with percentiles of that side.
ppi_named ppi_named_device(const ppi_report_name *from);
// ppi_named_key is the value of `named` that `key` orders by.
ppi_cell ppi_named_key(const ppi_named *named, ppi_sort_key key);
// ppi_named_flops is the sum that the ranges stated; none if they stated none,
// or for the ranges of one thread.
ppi_cell ppi_named_flops(const ppi_figures *figures, const ppi_named *named);
// ppi_named_order sorts by the key, then name and category, and answers the
// number of rows to show.
size_t ppi_named_order(ppi_named_list *list, ppi_sort_key key, long top);
void ppi_named_clear(ppi_named_list *list);

// The numbers of a view's cells; the name is the first one. 0: no such cell.
typedef struct ppi_named_layout {
  size_t category, thread, calls, host, device, self, p50;
} ppi_named_layout;

// The columns behind `self` (of `side`, "cpu" or "device"), from p50 on.
// clang-format off
#define PPI_TIMES_COLUMNS(side)                     \
  {side "_p50", "ns"}, {side "_p90", "ns"},         \
  {side "_p99", "ns"}, {side "_std", "ns"}
// clang-format on
enum { PPI_TIMES_CELLS = 4 };

// The first cells of UserDefined and Memory Manipulation, and their table.
// clang-format off
#define PPI_NAMED_COLUMNS                                   \
  {"name", NULL}, {"category", NULL}, {"calls", NULL},      \
  PPI_HOST_COLUMNS, PPI_DEVICE_COLUMNS
// clang-format on
enum {
  PPI_NAMED_NAME,
  PPI_NAMED_CATEGORY,
  PPI_NAMED_CALLS,
  PPI_NAMED_HOST,
  PPI_NAMED_DEVICE = PPI_NAMED_HOST + PPI_SPREAD_CELLS,
  PPI_NAMED_CELLS = PPI_NAMED_DEVICE + PPI_SPREAD_CELLS,
  PPI_NAMED_TABLE_COLUMNS = 4,
  PPI_NAMED_BRIEF = 8
};
// Their columns in Markdown, with THREAD if they have it.
extern const size_t ppi_named_brief[PPI_NAMED_BRIEF];
extern const ppi_table_column ppi_named_table_columns[PPI_NAMED_TABLE_COLUMNS];

// One block of rows, under one banner.
typedef struct ppi_named_block {
  const ppi_figures *figures;
  const ppi_report_options *options;
  const ppi_named_layout *layout;
  ppi_named_list list;
  ppi_sort_key order;  // if the caller's key has no cell here
  uint64_t host_base, device_base;
  const char *banner;            // NULL: none
  const char *process, *thread;  // NULL: all threads merged
  uint64_t thread_number;
  // Called after each row, with its cells; NULL: nothing to do. False: out of
  // memory.
  bool (*finish_row)(ppi_view *view, const struct ppi_named_block *block,
                     const ppi_named *named, ppi_cell *cells);
} ppi_named_block;

// ppi_named_put orders the block and adds its rows.
pprof_status ppi_named_put(ppi_view *view, ppi_named_block *block);

// ppi_named_put_blocks adds all names that `takes` accepts: in one block, or in
// one for each thread that has any. `start` (or NULL) sets the bases of a
// block.
typedef bool ppi_named_takes(uint32_t category, const char *name);
pprof_status ppi_named_put_blocks(ppi_view *view, const ppi_named_block *like,
                                  ppi_named_takes *takes,
                                  void (*start)(ppi_named_block *block));

// ppi_named_is_copy: the name belongs to the Memory Manipulation view.
bool ppi_named_is_copy(uint32_t category, const char *name);
bool ppi_named_is_user_defined(uint32_t category);

PPROF_END_C_
