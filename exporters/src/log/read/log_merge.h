// SPDX-License-Identifier: Apache-2.0
//
// Logs to one log that holds the runs of all of them. Called by the tool; one
// thread, memory by the number of runs.
#pragma once

#include "log/format/log_file.h"
#include "log/format/log_format.h"

PPROF_BEGIN_C_

typedef struct ppi_log_merge_input {
  const char *path;
  const char *name;  // what messages call it
  bool imported;     // made of a trace, which has less than the log
  // Filled in: what is wrong with it. Then what is readable is merged.
  ppi_log_damage damage;
  bool complete;        // each of its runs has its totals
  size_t num_repeated;  // of its runs, those that were taken of another input
} ppi_log_merge_input;

typedef enum ppi_log_merge_end {
  PPI_LOG_MERGED,
  PPI_LOG_MERGE_BAD_INPUT,   // one cannot be read, or they hold no run at all
  PPI_LOG_MERGE_CONFLICT,    // two runs of one uuid differ
  PPI_LOG_MERGE_BAD_OUTPUT,  // it cannot be written
} ppi_log_merge_end;

// ppi_log_merge writes each run of the inputs once, its bytes as they are, in
// an order that depends on the runs alone; rather a log's than a trace's, and
// rather a whole one's. `output` appears, or is replaced,
// when all of it is written. *error says what went wrong.
ppi_log_merge_end ppi_log_merge(ppi_log_merge_input *inputs, size_t num_inputs,
                                const char *output, pprof_error *error);

PPROF_END_C_
