// SPDX-License-Identifier: Apache-2.0
//
// When device work begins and ends, last first.
#pragma once

#include "report/answer/moments.h"

PPROF_BEGIN_C_

// Going back, ends come last among the borders of one time.
typedef enum ppi_device_border_kind {
  PPI_DEVICE_BEGIN,
  PPI_DEVICE_SUBMIT,
  PPI_DEVICE_END
} ppi_device_border_kind;

// `time` is in ns, + 1.
typedef struct ppi_device_border {
  uint64_t time;
  uint32_t item;
  ppi_device_border_kind kind;
} ppi_device_border;

// ppi_device_borders_list writes the borders in [from, to), three an item at
// most, and returns their number. Work that goes on ends at `to`.
size_t ppi_device_borders_list(const ppi_item *items, size_t num_items,
                               uint64_t from_ns, uint64_t to_ns,
                               ppi_device_border *out);

PPROF_END_C_
