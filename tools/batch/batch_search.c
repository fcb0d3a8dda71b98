// SPDX-License-Identifier: Apache-2.0
//
// Chooses the next batch: by doubling and bisection, or in sequence.
#include "batch/batch_search.h"

size_t ppi_batch_next(const ppi_batch_search *search) {
  size_t low = search->survived, high = search->failed;
  if (low == 0) return high ? 0 : search->from;
  if (high && high - low <= 1) return 0;
  if (search->sequential) return high || low >= search->to ? 0 : low + 1;
  if (high) return low + (high - low) / 2;
  if (low >= search->to) return 0;
  return low > search->to / 2 ? search->to : 2 * low;
}

void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived) {
  size_t *limit = survived ? &search->survived : &search->failed;
  *limit = batch;
}
