// SPDX-License-Identifier: Apache-2.0
//
// The properties of a log that decide how recover treats it: its owner, whether
// it is complete, and its other parts.
#pragma once

#include "file/part.h"
#include "log/format/log_payload.h"

// Run info of a dump that recover makes begins with this.
#define PPI_FLIGHT_DEATH "a part of the run, before its process died at "

typedef struct ppi_log_glance {
  char uuid[PPI_LOG_UUID_LEN + 1];
  ppi_path spool_path;  // "": it names none
  bool readable;        // there is a block that can be read
  bool complete;        // the last block is the end of totals
  char flight[1024];    // the reason of a flight recorder's dump; "": none
  bool several;         // runs; `complete` is then about all of them
  uint32_t segment;     // 0: none
} ppi_log_glance;

// Adds the content of an info block to `out`; the payload is scratch. NO_MEMORY
// is the only error.
pprof_status ppi_log_glance_info(ppi_log_payload *payload,
                                 const ppi_log_block *block,
                                 ppi_log_glance *out);
// Clears `out` first.
pprof_status ppi_log_glance_at(const char *path, ppi_log_glance *out,
                               pprof_error *error);
