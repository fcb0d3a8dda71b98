// SPDX-License-Identifier: Apache-2.0
//
// How a kernel was launched, as attributes of its event: the JSON object of
// kernels in PyTorch's traces, and values computed from it.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// The resource that limits the blocks on a multiprocessor.
typedef enum ppi_occupancy_limit {
  PPI_LIMIT_UNKNOWN = 0,
  PPI_LIMIT_WARPS,
  PPI_LIMIT_BLOCKS,
  PPI_LIMIT_REGISTERS,
  PPI_LIMIT_SHARED_MEMORY,
  PPI_NUM_LIMITS
} ppi_occupancy_limit;

// Numbers of one width, without gaps: equal ones have equal bytes. 0: not
// known, save for what may be none.
typedef struct ppi_launch_shape {
  uint32_t grid[3], block[3];
  uint32_t registers;     // of a thread; it has some
  uint32_t shared_bytes;  // of a block; where registers are known, may be none
  uint32_t permyriad;     // theoretical occupancy
  uint32_t limit;         // a ppi_occupancy_limit
} ppi_launch_shape;

#define PPI_LAUNCH_SHAPE_TEXT 256
// ppi_launch_shape_put writes the object.
void ppi_launch_shape_put(const ppi_launch_shape *shape,
                          char out[PPI_LAUNCH_SHAPE_TEXT]);
// ppi_launch_shape_read reads the known members of an object from any source;
// false: the object has no block.
bool ppi_launch_shape_read(const char *text, ppi_launch_shape *out);
// ppi_launch_shape_compare orders by the fields as they stand above.
int ppi_launch_shape_compare(const ppi_launch_shape *a,
                             const ppi_launch_shape *b);

// In which ranges a node of a graph was captured, as a member of the same
// object. ppi_captured_put adds it to the object in `out`, which has room for
// `size` bytes, or leaves that as it is: the outermost names go where not all
// have room. ppi_captured_find answers where the names of an object begin, NULL
// where there are none; ppi_captured_next copies the next one and goes on,
// false: there is none, or none that fits.
void ppi_captured_put(char *out, size_t size, const char *const *names,
                      size_t num);
const char *ppi_captured_find(const char *object);
bool ppi_captured_next(const char **at, char *out, size_t size);
// ppi_occupancy_limit_name answers NULL where it is not known.
const char *ppi_occupancy_limit_name(uint32_t limit);

PPROF_END_C_
