// SPDX-License-Identifier: Apache-2.0
//
// A log that its disk ends before its run does: how many records are not in
// the file, and the totals that say so there. Called by the log writer on the
// collector's thread.
#pragma once

#include "log/write/log_budget.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

typedef enum ppi_log_loss_stage {
  PPI_LOG_LOSS_NONE,
  PPI_LOG_LOSS_COUNTS,  // blocks that are closed now get to no file
  PPI_LOG_LOSS_SPEAKS   // blocks that are closed now go into `words`
} ppi_log_loss_stage;

typedef struct ppi_log_loss {
  ppi_tally given;  // what the log got
  ppi_log_loss_stage stage;
  ppi_buffer words;  // what the file should end with
  uint64_t *ended;   // by segment that has ended: records up to its end
  size_t num_ended, ended_capacity;
} ppi_log_loss;

// What holds blocks that the file does not.
typedef struct ppi_log_loss_rest {
  ppi_log_assembler *assembler;
  const ppi_staging *staging;
  const ppi_buffer *backlog;   // groups, a u32 length before each
  uint64_t num_in_file;        // blocks of the segment
  const ppi_tally *elsewhere;  // what other segments hold
} ppi_log_loss_rest;

// Counts what the log gets. Lanes that no session has count for nothing. False
// when out of memory.
bool ppi_log_loss_note(ppi_log_loss *loss, const pprof_batch *batch);
// A segment has ended; all of them hold `num_earlier` records. False when out
// of memory.
bool ppi_log_loss_turn(ppi_log_loss *loss, uint64_t num_earlier);
// Whether blocks that were closed go anywhere but to the file.
bool ppi_log_loss_takes(ppi_log_loss *loss, ppi_log_budget *budget,
                        const uint8_t *blocks, size_t len,
                        pprof_status *out_status);
// Makes budget->dropped what the file lacks of the run.
// Errors: NO_MEMORY.
pprof_status ppi_log_loss_settle(ppi_log_loss *loss, ppi_log_budget *budget,
                                 const ppi_log_loss_rest *rest,
                                 const pprof_totals *totals);
// How many that are, where the file with `segment` was the one to be written.
uint64_t ppi_log_loss_missing(const ppi_log_loss *loss,
                              const ppi_log_budget *budget,
                              const pprof_totals *totals, uint32_t segment);
// Then gathers `words`, the totals of what is in the file.
pprof_status ppi_log_loss_speak(ppi_log_loss *loss,
                                const ppi_log_budget *budget,
                                ppi_rotate *rotate,
                                const ppi_log_loss_rest *rest,
                                const pprof_totals *totals);
// How many records a file has that is whole.
uint64_t ppi_log_loss_num_given(const ppi_log_loss *loss,
                                const ppi_tally *elsewhere);
// What became of the disk, in words.
const char *ppi_log_loss_reason(int error);
void ppi_log_loss_clear(ppi_log_loss *loss);

PPROF_END_C_
