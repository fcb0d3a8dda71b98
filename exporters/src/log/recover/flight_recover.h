// SPDX-License-Identifier: Apache-2.0
//
// Makes the dump of a process that died, from its flight recorder's ring and
// the records that are in no block. Called by recover.
#pragma once

#include "log/recover/recover_result.h"
#include "recover/salvage.h"

typedef struct ppi_flight_recovery {
  uint64_t num_blocks, num_records;
  bool already_whole;  // an earlier recover made it
  char path[PPI_RECOVER_PATH_MAX];
} ppi_flight_recovery;

// Makes the dump at `path`, or beside another file of that name. The spool must
// have a ring (ppi_salvage_ring).
//
// Errors: IO, NO_MEMORY.
pprof_status ppi_flight_recover(ppi_salvage *salvage, const char *path,
                                ppi_flight_recovery *out, pprof_error *error);
