// SPDX-License-Identifier: Apache-2.0
//
// Requests of one run, by flow: what of each was when, gathered while the run
// is delivered and looked at when it has ended. One thread at a time.
#pragma once

#include "report/parts/ids.h"
#include "report/parts/request_walk.h"

PPROF_BEGIN_C_

// More parts than this are thinned: of all requests those of one hash in two,
// four, ... stay, so that what stays does not depend on the order of arrival.
#define PPI_REQUESTS_MAX_PARTS (1u << 20)

// A device's work that is of no request, and in the way of those.
typedef struct ppi_request_others {
  ppi_map devices;  // by id
  ppi_union *busy;  // of each
  size_t capacity;
  size_t num_ranges;  // in all of them
  bool dropped;       // there were too many
} ppi_request_others;

// All zero is the empty one; `max_parts` 0 is PPI_REQUESTS_MAX_PARTS.
typedef struct ppi_requests {
  ppi_request_part *parts;
  size_t num, capacity, max_parts;
  ppi_request_others others;
  bool are_links;     // flows join ranges and are no requests
  bool has_stages;    // any range with a flow is none of pprof_request_begin
  unsigned thinning;  // one request in 2^thinning is kept
} ppi_requests;

pprof_status ppi_requests_take(ppi_requests *requests, const pprof_event *event,
                               uint32_t device);
// ppi_requests_fill makes the figures of one run; the order of the parts
// changes.
pprof_status ppi_requests_fill(ppi_requests *requests, ppi_run_ids *ids,
                               ppi_figures *out);
// ppi_requests_next answers how many parts, from `at` on, are one request, once
// it is filled; `out_counts`: it is among the figures.
size_t ppi_requests_next(const ppi_requests *requests, size_t at,
                         bool *out_counts);
void ppi_requests_clear(ppi_requests *requests);

PPROF_END_C_
