// SPDX-License-Identifier: Apache-2.0
//
// Counts for a log that its disk ends before its run: the number of records
// that are not in the file, and totals with that number. Called by the log
// writer on the collector's thread.
#pragma once

#include "log/write/log_budget.h"
#include "spool/staging.h"

typedef enum ppi_log_loss_stage {
  PPI_LOG_LOSS_NONE,
  PPI_LOG_LOSS_COUNTS,  // new blocks get to no file
  PPI_LOG_LOSS_SPEAKS   // new blocks go into `words`
} ppi_log_loss_stage;

typedef struct ppi_log_loss {
  ppi_tally given;  // the log's input
  ppi_log_loss_stage stage;
  ppi_buffer words;  // the file's last bytes
  uint64_t *ended;   // by ended segment: records up to its end
  size_t num_ended, ended_capacity;
} ppi_log_loss;

// Places of blocks that the file does not have.
typedef struct ppi_log_loss_rest {
  ppi_log_assembler *assembler;
  const ppi_staging *staging;
  const ppi_buffer *backlog;   // groups, a u32 length before each
  uint64_t num_in_file;        // blocks of the segment
  const ppi_tally *elsewhere;  // the content of other segments
} ppi_log_loss_rest;

// Counts input of the log. Lanes that no session has are ignored. False: out of
// memory.
bool ppi_log_loss_note(ppi_log_loss *loss, const pprof_batch *batch);
// A segment has ended; all of them have `num_earlier` records. False: out of
// memory.
bool ppi_log_loss_turn(ppi_log_loss *loss, uint64_t num_earlier);
// Whether new blocks go anywhere but to the file.
bool ppi_log_loss_takes(ppi_log_loss *loss, ppi_log_budget *budget,
                        const uint8_t *blocks, size_t len,
                        pprof_status *out_status);
// Sets budget->dropped to the run's records that are not in the file. Errors:
// NO_MEMORY.
pprof_status ppi_log_loss_settle(ppi_log_loss *loss, ppi_log_budget *budget,
                                 const ppi_log_loss_rest *rest,
                                 const pprof_totals *totals);
// The number of missing records if the file of `segment` is the last one.
uint64_t ppi_log_loss_missing(const ppi_log_loss *loss,
                              const ppi_log_budget *budget,
                              const pprof_totals *totals, uint32_t segment);
// Then fills `words` with the totals of the file's content.
pprof_status ppi_log_loss_speak(ppi_log_loss *loss,
                                const ppi_log_budget *budget,
                                ppi_rotate *rotate,
                                const ppi_log_loss_rest *rest,
                                const pprof_totals *totals);
// The number of records of a complete file.
uint64_t ppi_log_loss_num_given(const ppi_log_loss *loss,
                                const ppi_tally *elsewhere);
// The disk's failure as text.
const char *ppi_log_loss_reason(int error);
void ppi_log_loss_clear(ppi_log_loss *loss);
