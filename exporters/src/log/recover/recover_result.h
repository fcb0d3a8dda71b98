// SPDX-License-Identifier: Apache-2.0
//
// What recover answers: what it took from where, and where it left it.
#ifndef PPI_RECOVER_RESULT_H_
#define PPI_RECOVER_RESULT_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PPI_RECOVER_PATH_MAX = 4096 };

typedef struct ppi_recover_result {
  uint64_t blocks_copied;      // from the .part
  uint64_t blocks_staged;      // from the spool's staging ring
  uint64_t records_recovered;  // from the spool's lanes
  uint64_t bytes_unreadable;   // of the .part
  bool already_whole;          // nothing was to be done
  char path[PPI_RECOVER_PATH_MAX];
  char spool_path[PPI_RECOVER_PATH_MAX];  // "": there was none of this run
  // The flight recorder's dump, "" when there was none to make; where the run
  // wrote no log, it is `path`, too.
  char dump_path[PPI_RECOVER_PATH_MAX];
  // The first path of the spool's that recover did not follow; else "".
  char told_path[PPI_RECOVER_PATH_MAX];
} ppi_recover_result;

#ifdef __cplusplus
}
#endif

#endif  // PPI_RECOVER_RESULT_H_
