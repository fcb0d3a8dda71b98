// SPDX-License-Identifier: Apache-2.0
//
// The ranges in which kernels of graphs were captured, by attributes of events.
// With details.kernels; one thread at a time.
#pragma once

#include "report/parts/ids.h"

PPROF_BEGIN_C_

typedef struct ppi_capture {
  uint32_t *sites;  // the outermost first
  size_t num, capacity;
} ppi_capture;

// All zero is the empty one.
typedef struct ppi_captures {
  ppi_map ids;  // of attributes
  ppi_capture *items;
  size_t num, capacity;
} ppi_captures;

// ppi_captures_define takes attributes that may name ranges, which are defined
// by then; other names are left out.
pprof_status ppi_captures_define(ppi_captures *captures, const ppi_run_ids *ids,
                                 uint32_t id, const char *text);
// ppi_captures_at answers the number of an item of these attributes, + 1; 0:
// there is none.
uint32_t ppi_captures_at(const ppi_captures *captures, uint32_t attributes);
void ppi_captures_clear(ppi_captures *captures);

PPROF_END_C_
