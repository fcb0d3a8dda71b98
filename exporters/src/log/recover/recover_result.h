// SPDX-License-Identifier: Apache-2.0
//
// What recover is asked for, and what it answers: what it took from where, and
// where it left it.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_recover_options {
  const char *output;  // NULL: the .part's path without .part
  bool overwrite;      // an `output` that is another run's
  bool keep;           // leave .part and spool in place
  bool log_only;       // of a log and a dump make the log alone
  const char *folder;  // where paths of a spool are believed; NULL: nowhere
} ppi_recover_options;

enum { PPI_RECOVER_PATH_MAX = 4096 };

typedef struct ppi_recover_result {
  uint64_t blocks_copied;      // from the .part
  uint64_t blocks_staged;      // from the spool's staging ring
  uint64_t records_recovered;  // from the spool's lanes
  uint64_t bytes_unreadable;   // of the .part
  bool already_whole;          // nothing was to be done
  // `path` was an empty .part that no spool names: no log is made of it, and
  // without `keep` it is gone.
  bool was_nothing;
  char path[PPI_RECOVER_PATH_MAX];
  char spool_path[PPI_RECOVER_PATH_MAX];  // "": there was none of this run
  // The flight recorder's dump, "" when there was none to make; where the run
  // wrote no log, it is `path`, too.
  char dump_path[PPI_RECOVER_PATH_MAX];
  // The first path of the spool's that recover did not follow; else "".
  char reported_path[PPI_RECOVER_PATH_MAX];
} ppi_recover_result;

PPROF_END_C_
