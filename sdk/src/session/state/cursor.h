// SPDX-License-Identifier: Apache-2.0
//
// The collector's position in each lane.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// The collector's position in one lane.
typedef struct ppi_cursor {
  uint32_t serial;         // of the thread that has the lane
  uint64_t next;           // first slot not delivered
  uint64_t delivered_end;  // as sinks count, of the last record they got
  uint64_t snapshot;       // head to drain to in this cycle
  uint64_t awaited;        // slots below are kept before names are given again
} ppi_cursor;

// The collector's. ppi_cursor_lane answers the lane in slot `i` with its cursor
// set to it; NULL: no lane with content.
ppi_lane *ppi_cursor_lane(ppi_cursor *cursors, uint32_t i);

PPROF_END_C_
