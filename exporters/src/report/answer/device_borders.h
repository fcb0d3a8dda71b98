// SPDX-License-Identifier: Apache-2.0
//
// When devices begin and end what they do, from the last.
#pragma once

#include "report/answer/moments.h"

PPROF_BEGIN_C_

// Going back, what ends on a device at one time comes last.
typedef enum ppi_device_border_kind {
  PPI_DEVICE_BEGIN,
  PPI_DEVICE_SUBMIT,
  PPI_DEVICE_END
} ppi_device_border_kind;

// A time + 1.
typedef struct ppi_device_border {
  uint64_t time;
  uint32_t item;
  ppi_device_border_kind kind;
} ppi_device_border;

// ppi_device_borders_list writes those in [from, to), and ends at `to` of what
// goes on; three an item at most. Answers how many.
size_t ppi_device_borders_list(const ppi_item *items, size_t num_items,
                               uint64_t from_ns, uint64_t to_ns,
                               ppi_device_border *out);

PPROF_END_C_
