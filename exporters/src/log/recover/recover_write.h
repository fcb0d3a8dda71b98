// SPDX-License-Identifier: Apache-2.0
//
// Writes the log that recover makes: what it is called, the file itself, and
// when the leftovers may go: after the rename, never before. Which files and
// which spool it is made of, log_recover.c finds.
#pragma once

#include "log/format/log_format.h"
#include "log/recover/recover_result.h"
#include "recover/salvage.h"

PPROF_BEGIN_C_

typedef struct ppi_recover_job {
  ppi_recover_options options;
  bool in_place;  // nobody has asked for it
  ppi_recover_result *result;
  pprof_error *error;
  ppi_salvage *salvage;  // NULL: there is no spool
  char *spool_path;      // the one that `salvage` is of
  char *named_path;      // what the run calls its .part; may be gone
  char *part_path;       // NULL: there is no .part of this run
  bool owns_spool;       // the spool stages no other log's blocks
  bool foreign;          // another user's: its paths are not to be written to
  char *final_path, *temporary_path;
  char uuid[PPI_LOG_UUID_LEN + 1];
  uint32_t segment;  // that `final_path` is of; 0: the log is one file
} ppi_recover_job;

// ppi_recover_no_memory answers NO_MEMORY, with its text in the job's error.
pprof_status ppi_recover_no_memory(ppi_recover_job *recovery);
// ppi_recover_staged_after answers which segment the first staged run info is
// of, or the first one of a segment after `after`; 0: there is none.
pprof_status ppi_recover_staged_after(ppi_recover_job *recovery, uint32_t after,
                                      uint32_t *out_segment);
// ppi_recover_find_whole finds the run's own log under its final name, where it
// died between the rename and the removal of its spool; NULL: there is none.
char *ppi_recover_find_whole(ppi_recover_job *recovery);
// ppi_recover_make_whole writes the log and removes the leftovers.
pprof_status ppi_recover_make_whole(ppi_recover_job *recovery);
// ppi_recover_remove_empty removes a file of at most `most` bytes, unless
// somebody writes it.
void ppi_recover_remove_empty(const char *path, off_t most);
// ppi_recover_remove_leftovers: the final log is there and whole.
void ppi_recover_remove_leftovers(const ppi_recover_job *recovery);

PPROF_END_C_
