// SPDX-License-Identifier: Apache-2.0
//
// Merges logs into one log with all of their runs. Called by the tool; one
// thread, memory by the number of runs.
#pragma once

#include "log/format/log_file.h"

PPROF_BEGIN_C_

typedef struct ppi_log_merge_input {
  const char *path;
  const char *name;  // its name in messages
  bool imported;     // made from a trace, which has less than the log
  // Output: its damage. Its readable part is then merged.
  ppi_log_damage damage;
  bool complete;        // each of its runs has its totals
  size_t num_repeated;  // of its runs, those taken from another input
} ppi_log_merge_input;

typedef enum ppi_log_merge_end {
  PPI_LOG_MERGED,
  PPI_LOG_MERGE_BAD_INPUT,   // one is unreadable, or they contain no run at all
  PPI_LOG_MERGE_CONFLICT,    // two runs of one uuid differ
  PPI_LOG_MERGE_BAD_OUTPUT,  // it cannot be written
} ppi_log_merge_end;

// ppi_log_merge writes each run of the inputs once, with unchanged bytes. Their
// order depends only on the runs. It prefers a log's run to a trace's, and a
// complete one to a partial one. `output` appears, or is replaced, once it is
// complete. *error has the reason of a failure.
ppi_log_merge_end ppi_log_merge(ppi_log_merge_input *inputs, size_t num_inputs,
                                const char *output, pprof_error *error);

PPROF_END_C_
