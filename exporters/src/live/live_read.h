// SPDX-License-Identifier: Apache-2.0
//
// A watcher's copy of the table. The source is untrusted: sizes and counts are
// checked, and texts are terminated.
#pragma once

#include "live/live_table.h"

PPROF_BEGIN_C_

typedef struct ppi_live_view {
  ppi_live_header header;
  ppi_live_row *rows;
  size_t num_rows;
} ppi_live_view;

// Answers false when the file is no table of this version, or out of memory.
// Clear the view in any case.
bool ppi_live_read(int fd, ppi_live_view *out);
void ppi_live_view_clear(ppi_live_view *view);

// The change between two copies. `before` is an earlier one of the same table,
// or NULL: since counting began.
typedef struct ppi_live_change {
  uint64_t num, sum_ns, p50_ns, p99_ns;
} ppi_live_change;
void ppi_live_changed(const ppi_live_view *before, const ppi_live_view *now,
                      size_t row, ppi_live_change *out);

PPROF_END_C_
