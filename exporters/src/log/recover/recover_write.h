// SPDX-License-Identifier: Apache-2.0
//
// Writes the log that recover makes: its name, its file, and the removal of
// leftovers after the rename. log_recover.c finds the files and the spool.
#pragma once

#include "log/format/log_format.h"
#include "log/recover/recover_result.h"
#include "recover/salvage.h"

typedef struct ppi_recover_job {
  ppi_recover_options options;
  bool in_place;  // without a request
  ppi_recover_result *result;
  pprof_error *error;
  ppi_salvage *salvage;  // NULL: there is no spool
  ppi_path spool_path;   // the path of `salvage`
  ppi_path named_path;   // the run's own name for its .part; may be gone
  ppi_path part_path;    // "": this run has no .part
  bool owns_spool;       // the spool stages no other log's blocks
  bool foreign;          // another user's: nothing is written to its paths
  ppi_path final_path, temporary_path;
  char uuid[PPI_LOG_UUID_LEN + 1];
  uint32_t segment;  // of `final_path`; 0: the log is one file
} ppi_recover_job;

// ppi_recover_no_memory answers NO_MEMORY, with its text in the job's error.
pprof_status ppi_recover_no_memory(ppi_recover_job *recovery);
// ppi_recover_staged_after answers the segment of the first staged run info, or
// the first segment after `after`; 0: none.
pprof_status ppi_recover_staged_after(ppi_recover_job *recovery, uint32_t after,
                                      uint32_t *out_segment);
// ppi_recover_find_whole finds the run's own log under its final name, if the
// process died between the rename and the removal of its spool; "": none.
ppi_path ppi_recover_find_whole(ppi_recover_job *recovery);
// ppi_recover_make_whole writes the log and removes the leftovers.
pprof_status ppi_recover_make_whole(ppi_recover_job *recovery);
// ppi_recover_remove_empty removes a file of at most `most` bytes, unless
// somebody writes it.
void ppi_recover_remove_empty(const char *path, off_t most);
// ppi_recover_remove_leftovers: call it once the final log is complete.
void ppi_recover_remove_leftovers(const ppi_recover_job *recovery);
