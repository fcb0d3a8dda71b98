// SPDX-License-Identifier: Apache-2.0
//
// The part of the disk's limit that a log has. At the limit, blocks of events
// are refused and their records counted. Totals, which complete the log, have
// reserved room. Called by the log writer on the collector's thread.
#pragma once

#include "file/disk.h"
#include "log/write/rotate.h"

typedef struct ppi_log_budget {
  ppi_disk *disk;       // NULL: no limit
  const char *reserve;  // the path of the reserved room; borrowed
  bool full;            // only essential blocks from now on
  bool essential;       // the next block is essential
  int error;            // errno of a disk that ended the log before its limit
  ppi_tally dropped;    // records of refused blocks
} ppi_log_budget;

// Reserves room; without even that, the log is full.
void ppi_log_budget_open(ppi_log_budget *budget, ppi_disk *disk,
                         const char *reserve);
void ppi_log_budget_close(ppi_log_budget *budget);
// Between these two calls, the reserved room may be used.
void ppi_log_budget_begin_essential(ppi_log_budget *budget);
void ppi_log_budget_end_essential(ppi_log_budget *budget);
// Whether `len` more bytes of `path` may be written; if so, they are accounted.
bool ppi_log_budget_take(ppi_log_budget *budget, const char *path, size_t len);
// Counts the records of refused blocks. Errors: NO_MEMORY.
pprof_status ppi_log_budget_refuse(ppi_log_budget *budget,
                                   const uint8_t *blocks, size_t len,
                                   uint64_t *out_num_blocks);
pprof_status ppi_log_budget_drop(ppi_log_budget *budget,
                                 const pprof_batch *batch);
// Changes the run's totals to those of the log's content.
pprof_status ppi_log_budget_totals(const ppi_log_budget *budget,
                                   ppi_rotate *rotate,
                                   const pprof_totals *totals,
                                   ppi_log_assembler *assembler);
uint64_t ppi_log_budget_num_dropped(const ppi_log_budget *budget);
