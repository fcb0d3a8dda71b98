// SPDX-License-Identifier: Apache-2.0
//
// Turns the parts of requests into the figures of a run.
#pragma once

#include "report/parts/request_parts.h"

PPROF_BEGIN_C_

// Reads the requests that count, each with its longest path, in any order.
typedef struct ppi_requests_reader {
  bool (*begin)(void *context);  // their list is known
  bool (*take)(void *context, const ppi_request *of, const ppi_walk *walk);
  void *context;
} ppi_requests_reader;

// ppi_requests_fill puts the parts in order and makes the figures of one run.
// `reader` NULL: nobody reads.
bool ppi_requests_fill(ppi_requests *requests, ppi_run_ids *ids,
                       const ppi_requests_reader *reader, ppi_figures *out);

PPROF_END_C_
