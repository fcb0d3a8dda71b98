// SPDX-License-Identifier: Apache-2.0
//
// What --dim says: the size of a named dimension, or of an axis of a tensor.
#ifndef PPI_COST_DIMS_H_
#define PPI_COST_DIMS_H_

#include <stdbool.h>
#include <stdint.h>

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_wanted_dim {
  char *name;
  int axis;  // -1: `name` is a dimension; else a tensor, of which this axis
  int64_t size;
  bool was_used;
} ppi_wanted_dim;

typedef struct ppi_wanted_dims {
  ppi_wanted_dim *items;
  size_t num, capacity;
} ppi_wanted_dims;

// ppi_dims_parse reads "batch=8,tokens=128,image:0=2" (NULL: nothing).
//
// Errors: INVALID with words; NO_MEMORY. ppi_dims_clear is needed either way.
pprof_status ppi_dims_parse(const char *text, ppi_wanted_dims *out,
                            pprof_error *error);
void ppi_dims_clear(ppi_wanted_dims *dims);
// ppi_dims_find answers the size of a named dimension, or with `axis` >= 0 that
// of an axis of a tensor; -1: nobody has said it.
int64_t ppi_dims_find(ppi_wanted_dims *dims, const char *name, int axis);
// ppi_dims_unused answers a name that nothing had; NULL: there is none.
const char *ppi_dims_unused(const ppi_wanted_dims *dims);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_DIMS_H_
