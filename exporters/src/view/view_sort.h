// SPDX-License-Identifier: Apache-2.0
//
// The keys by which rows of named things are ordered, and their names in each
// style.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

typedef enum ppi_sort_key {
  PPI_SORT_NONE = 0,
  PPI_SORT_HOST_TOTAL,
  PPI_SORT_HOST_MEAN,
  PPI_SORT_HOST_MAX,
  PPI_SORT_HOST_MIN,
  PPI_SORT_DEVICE_TOTAL,
  PPI_SORT_DEVICE_MEAN,
  PPI_SORT_DEVICE_MAX,
  PPI_SORT_DEVICE_MIN,
  PPI_SORT_SELF,
  PPI_SORT_P50,
  PPI_SORT_P90,
  PPI_SORT_P99,
  PPI_SORT_STD,
  PPI_SORT_CALLS,
  PPI_SORT_SELF_DEVICE,
  PPI_SORT_WALL,
  PPI_SORT_MEMORY,
  PPI_SORT_OWN_MEMORY,
  PPI_SORT_DEVICE_MEMORY,
  PPI_SORT_OWN_DEVICE_MEMORY
} ppi_sort_key;

// ppi_sort_is_known: `style` has the sort key. ppi_sort_keys lists its keys for
// messages, "cpu-total|cpu-avg|...".
bool ppi_sort_is_known(ppi_report_style style, const char *key);
const char *ppi_sort_keys(ppi_report_style style);

// ppi_sort_key_of is the caller's key, PPI_SORT_NONE without one.
ppi_sort_key ppi_sort_key_of(const ppi_report_options *options);
// ppi_sort_compare puts the greater value first, or the lesser one for a key
// that is a minimum. A cell that is none comes last.
int ppi_sort_compare(ppi_sort_key key, const ppi_cell *left,
                     const ppi_cell *right);

PPROF_END_C_
