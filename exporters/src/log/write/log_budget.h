// SPDX-License-Identifier: Apache-2.0
//
// What the disk's limit lets a log have. Where it ends, blocks of events are
// turned away and their records counted; what makes the log whole, its totals,
// has room put by. Called by the log writer on the collector's thread.
#pragma once

#include "file/disk.h"
#include "log/format/log_format.h"
#include "log/write/rotate.h"

PPROF_BEGIN_C_

typedef struct ppi_log_budget {
  ppi_disk *disk;       // NULL: no limit
  const char *reserve;  // the path that stands for the room put by; borrowed
  bool full;            // nothing but what is essential from now on
  bool essential;       // what comes next is
  int error;            // errno of a disk that ended the log before its limit
  ppi_tally dropped;    // records that were turned away
} ppi_log_budget;

// Puts room by; where there is not even that, the log is full.
void ppi_log_budget_open(ppi_log_budget *budget, ppi_disk *disk,
                         const char *reserve);
void ppi_log_budget_close(ppi_log_budget *budget);
// Between the two the room put by may be used.
void ppi_log_budget_begin_essential(ppi_log_budget *budget);
void ppi_log_budget_end_essential(ppi_log_budget *budget);
// Whether `len` bytes more of `path` may be written; if so they are accounted.
bool ppi_log_budget_take(ppi_log_budget *budget, const char *path, size_t len);
// Counts the records of blocks that may not. Errors: NO_MEMORY.
pprof_status ppi_log_budget_refuse(ppi_log_budget *budget,
                                   const uint8_t *blocks, size_t len,
                                   uint64_t *out_num_blocks);
pprof_status ppi_log_budget_drop(ppi_log_budget *budget,
                                 const pprof_batch *batch);
// Writes the run's totals as those of what is in the log.
pprof_status ppi_log_budget_totals(const ppi_log_budget *budget,
                                   ppi_rotate *rotate,
                                   const pprof_totals *totals,
                                   ppi_log_assembler *assembler);
uint64_t ppi_log_budget_num_dropped(const ppi_log_budget *budget);

PPROF_END_C_
