// SPDX-License-Identifier: Apache-2.0
//
// How kernels were launched, and where those of graphs were captured, as
// definitions: each is delivered once.
#pragma once

#include "base/map.h"
#include "kernels/source.h"

PPROF_BEGIN_C_

// So many are distinguished; kernels of others have none.
#define PPI_MOST_SHAPES 4096u

// All zero is the empty one.
typedef struct ppi_kernel_shapes {
  ppi_map numbers;
  bool *is_defined;  // by number
  size_t capacity;
  uint64_t num_without;  // kernels beyond that many
} ppi_kernel_shapes;

// ppi_kernel_shape_id answers the id of the attributes of `work`, which it
// defines: how it was launched, and where it was captured; 0: there are none.
// The collector.
uint32_t ppi_kernel_shape_id(ppi_kernel_shapes *shapes,
                             const ppi_kernel_source *source,
                             const ppi_device_work *work);
void ppi_kernel_shapes_clear(ppi_kernel_shapes *shapes);

PPROF_END_C_
