// SPDX-License-Identifier: Apache-2.0
//
// Turns the parts of requests into the figures of a run.
#pragma once

#include "report/parts/request_parts.h"

PPROF_BEGIN_C_

// Reads the requests that count, each with its longest path. Those of a piece
// come one after the other, pieces at the same time.
typedef struct ppi_requests_reader {
  // Their list is known.
  bool (*begin)(void *context, size_t num_pieces);
  bool (*take)(void *context, size_t piece, const ppi_request *of,
               const ppi_walk *walk);
  void *context;
} ppi_requests_reader;

// ppi_requests_fill puts the parts in order and makes the figures of one run,
// by jobs if `out` has some. `reader` NULL: nobody reads.
bool ppi_requests_fill(ppi_requests *requests, ppi_run_ids *ids,
                       const ppi_requests_reader *reader, ppi_figures *out);

PPROF_END_C_
