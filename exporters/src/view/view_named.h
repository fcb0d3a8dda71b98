// SPDX-License-Identifier: Apache-2.0
//
// Rows of named things, for Operator, Kernel, Memory Manipulation, UserDefined
// and the styles: collecting, sorting, cutting.
#pragma once

#include "view/view.h"

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
// ppi_named_flops is the sum that the ranges stated; none if they stated none,
// or for the ranges of one thread.
ppi_cell ppi_named_flops(const ppi_figures *figures, const ppi_named *named);
// ppi_named_order sorts by the key, then name and category, and answers the
// number of rows to show.
size_t ppi_named_order(ppi_named_list *list, ppi_sort_key key, long top);
void ppi_named_clear(ppi_named_list *list);

// The columns that named things share, for PPI_VIEW_TABLE. `b`, `b99`: brief
// places.
// clang-format off
#define PPI_NAME_CELL(each, width) \
  each(name, NULL, "Name", width, 1, text(named->name))
#define PPI_CATEGORY_CELL(each) \
  each(category, NULL, NULL, 0, 0, text(named->category_name))
#define PPI_THREAD_CELL(each) \
  each(thread, NULL, NULL, 0, 2, \
       if (block->thread, ppi_cell_text(block->thread)))
#define PPI_CALLS_CELLS(each) \
  each(calls, NULL, "Calls", 6, 3, count(named->calls)) \
  PPI_HOST_CELLS(each, 4, 5, 6, 7, &named->host, block->host_base) \
  PPI_DEVICE_CELLS(each, 8, 0, 0, 9, &named->device, block->device_base)
#define PPI_SELF_CELL(each) \
  each(cpu_self, "ns", NULL, 0, 0, time(named->self_ns))
#define PPI_TIMES_CELLS(each, side, b, b99) \
  each(side##_p50, "ns", NULL, 0, b, quantile(named->times, 50)) \
  each(side##_p90, "ns", NULL, 0, 0, quantile(named->times, 90)) \
  each(side##_p99, "ns", NULL, 0, b99, quantile(named->times, 99)) \
  each(side##_std, "ns", NULL, 0, 0, deviation(named->timed))
// clang-format on

// One block of rows, under one banner.
typedef struct ppi_named_block {
  const ppi_figures *figures;
  const ppi_report_options *options;
  ppi_named_list list;
  ppi_sort_key order;  // if the caller's key has no cell here
  uint64_t host_base, device_base;
  const char *banner;            // NULL: none
  const char *process, *thread;  // NULL: all threads merged
  uint64_t thread_number;
  bool has_host, has_times;  // cells of the host side; self time, percentiles
  // Adds a row.
  void (*put)(ppi_view *view, const struct ppi_named_block *block,
              const ppi_named *named);
} ppi_named_block;

// ppi_named_put orders the block and adds its rows.
void ppi_named_put(ppi_view *view, ppi_named_block *block);

// ppi_named_put_blocks adds all names that `takes` accepts: in one block, or in
// one for each thread that has any. `start` (or NULL) sets the bases of a
// block.
typedef bool ppi_named_takes(uint32_t category, const char *name);
void ppi_named_put_blocks(ppi_view *view, const ppi_named_block *like,
                          ppi_named_takes *takes,
                          void (*start)(ppi_named_block *block));

// ppi_named_is_copy: the name belongs to the Memory Manipulation view.
bool ppi_named_is_copy(uint32_t category, const char *name);
bool ppi_named_is_user_defined(uint32_t category);
