// SPDX-License-Identifier: Apache-2.0
//
// Batches that wait for a sink that has no room: copies, the oldest first, up
// to a bound. Collector's thread.
#ifndef PPI_HELD_H_
#define PPI_HELD_H_

#include "pprof/event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_held_batch ppi_held_batch;
typedef struct ppi_held {
  ppi_held_batch *first, *last;
  size_t num_bytes;
} ppi_held;

// False where all together would take more than `most_bytes`, or there is no
// memory.
bool ppi_held_put(ppi_held *held, const pprof_batch *batch, size_t most_bytes);
// NULL: nothing waits. Until it is dropped.
const pprof_batch *ppi_held_first(const ppi_held *held);
void ppi_held_drop(ppi_held *held);
void ppi_held_clear(ppi_held *held);

#ifdef __cplusplus
}
#endif

#endif  // PPI_HELD_H_
