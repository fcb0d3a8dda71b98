// SPDX-License-Identifier: Apache-2.0
//
// Keeps the numbers of kept records, now and at later lengths of the file.
#include "log/write/log_kept.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

typedef struct ppi_log_promise {
  uint64_t number, end_seq;
  uint32_t lane;
} promise;

bool ppi_log_kept_set(ppi_log_kept *kept, uint32_t lane, uint64_t end_seq) {
  if (lane >= kept->num) {
    if (!PPI_ROOM(kept->ends, kept->capacity, (size_t)lane + 1)) return false;
    memset(kept->ends + kept->num, 0,
           (lane + 1 - kept->num) * sizeof *kept->ends);
    kept->num = (size_t)lane + 1;
  }
  kept->ends[lane] = PPI_MAX(kept->ends[lane], end_seq);
  return true;
}

bool ppi_log_kept_promise(ppi_log_kept *kept, const ppi_log_run *run,
                          uint64_t number) {
  // Drops finished promises once they are half of the list, even if the file
  // always lags.
  if (kept->first_promise > kept->num_promises / 2) {
    kept->num_promises -= kept->first_promise;
    memmove(kept->promises, kept->promises + kept->first_promise,
            kept->num_promises * sizeof *kept->promises);
    kept->first_promise = 0;
  }
  if (!PPI_ROOM(kept->promises, kept->promises_capacity,
                kept->num_promises + 1))
    return false;
  kept->promises[kept->num_promises++] =
      (promise){number, run->end_seq, run->lane};
  return true;
}

bool ppi_log_kept_waits(const ppi_log_kept *kept) {
  return kept->first_promise < kept->num_promises;
}

void ppi_log_kept_written(ppi_log_kept *kept, uint64_t num_written) {
  while (ppi_log_kept_waits(kept)) {
    const promise *first = &kept->promises[kept->first_promise];
    if (first->number >= num_written) return;
    if (!ppi_log_kept_set(kept, first->lane, first->end_seq)) return;
    kept->first_promise++;
  }
}

void ppi_log_kept_restart(ppi_log_kept *kept) {
  kept->num = kept->first_promise = kept->num_promises = 0;
}

void ppi_log_kept_clear(ppi_log_kept *kept) {
  ppi_free(kept->ends);
  ppi_free(kept->promises);
  *kept = (ppi_log_kept){0};
}
