// SPDX-License-Identifier: Apache-2.0
//
// By lane, the record up to which a log keeps its input: once its block is in
// the spool's ring or, without one, in the file. Called by the log writer on
// the collector's thread.
#pragma once

#include "log/format/log_format.h"

PPROF_BEGIN_C_

struct ppi_log_promise;

typedef struct ppi_log_kept {
  uint64_t *ends;  // by lane
  size_t num, capacity;
  struct ppi_log_promise *promises;
  size_t first_promise, num_promises, promises_capacity;
} ppi_log_kept;

// The records of the run are kept now, or once more than `number` blocks are in
// the file. False: out of memory.
bool ppi_log_kept_set(ppi_log_kept *kept, uint32_t lane, uint64_t end_seq);
bool ppi_log_kept_promise(ppi_log_kept *kept, const ppi_log_run *run,
                          uint64_t number);
bool ppi_log_kept_waits(const ppi_log_kept *kept);
void ppi_log_kept_written(ppi_log_kept *kept, uint64_t num_written);
static inline uint64_t ppi_log_kept_end(const ppi_log_kept *kept,
                                        uint32_t lane) {
  return lane < kept->num ? kept->ends[lane] : 0;
}
void ppi_log_kept_restart(ppi_log_kept *kept);  // a further run
void ppi_log_kept_clear(ppi_log_kept *kept);

PPROF_END_C_
