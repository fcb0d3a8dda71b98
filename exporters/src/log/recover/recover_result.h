// SPDX-License-Identifier: Apache-2.0
//
// The options and the result of recover: the sources of the records, and the
// paths of the output.
#pragma once

#include "file/part.h"

typedef struct ppi_recover_options {
  const char *output;  // NULL: the .part's path without .part
  bool overwrite;      // replace an `output` of another run
  bool keep;           // leave .part and spool in place
  bool log_only;       // if a run has a log and a dump, make only the log
  const char *folder;  // a spool's paths into it are trusted; NULL: nowhere
} ppi_recover_options;

enum { PPI_RECOVER_PATH_MAX = sizeof(ppi_path) };

typedef struct ppi_recover_result {
  uint64_t blocks_copied;      // from the .part
  uint64_t blocks_staged;      // from the spool's staging ring
  uint64_t records_recovered;  // from the spool's lanes
  uint64_t bytes_unreadable;   // of the .part
  bool already_whole;          // there was nothing to do
  // `path` was an empty .part that no spool names. No log is made; without
  // `keep`, the .part is removed.
  bool was_nothing;
  char path[PPI_RECOVER_PATH_MAX];
  char spool_path[PPI_RECOVER_PATH_MAX];  // "": this run had none
  // The flight recorder's dump, "" if there was none to make. Without a log of
  // the run, `path` names the dump, too.
  char dump_path[PPI_RECOVER_PATH_MAX];
  // The first path of the spool that recover refused; else "".
  char reported_path[PPI_RECOVER_PATH_MAX];
} ppi_recover_result;
