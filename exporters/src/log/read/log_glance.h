// SPDX-License-Identifier: Apache-2.0
//
// What recover has to know of a log before it decides what to do with it: its
// owner, whether it is whole, what else belongs to it.
#pragma once

#include "log/format/log_file.h"
#include "log/format/log_format.h"
#include "log/format/log_payload.h"

PPROF_BEGIN_C_

// What a dump that recover makes says of itself begins with this.
#define PPI_FLIGHT_DEATH "a part of the run, before its process died at "

typedef struct ppi_log_glance {
  char uuid[PPI_LOG_UUID_LEN + 1];
  char *spool_path;  // NULL: it names none
  bool readable;     // there is a block that can be read
  bool complete;     // the last block is the end of totals
  bool dump;         // a flight recorder's
  bool death;        // of the moment of the death: recover's own
  bool several;      // runs; then `complete` speaks of all of them
  uint32_t segment;  // 0: none
} ppi_log_glance;

// What an info block says is added to `out`; the payload is scratch.
// NO_MEMORY alone is an error.
pprof_status ppi_log_glance_info(ppi_log_payload *payload,
                                 const ppi_log_block *block,
                                 ppi_log_glance *out);
// Clears `out` first; its spool_path is the caller's to ppi_free, unless it
// fails.
pprof_status ppi_log_glance_at(const char *path, ppi_log_glance *out,
                               pprof_error *error);

PPROF_END_C_
