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
#define PPI_REQUESTS_MAX_PARTS 400000u

// A request of more parts is not looked at: that takes time in the square.
#define PPI_REQUEST_MOST_PARTS 4096u

// A range that serves a request, in few bytes: there are many. What few have is
// kept apart.
typedef struct ppi_kept_part {
  uint64_t flow, start_ns;
  uint32_t length_ns;  // on the host, unless there is more
  uint32_t site, lane;
  uint32_t more;  // of `more`, + 1; 0: none
} ppi_kept_part;

typedef struct ppi_part_more {
  uint64_t end_ns, device_start_ns, device_end_ns;
  uint32_t stream, device, window;
  bool is_async, is_paired, is_cut;
} ppi_part_more;

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
  ppi_kept_part *parts;
  size_t num, capacity, max_parts;
  ppi_part_more *more;
  size_t num_more, more_capacity;
  // Once it is filled: parts by flow and begin, outer ones before those in
  // them; the sites that are mostly the request itself.
  uint32_t *order;
  bool *whole_sites;  // by site
  ppi_request_others others;
  bool are_links;     // flows join ranges and are no requests
  bool has_stages;    // any range with a flow is none of pprof_request_begin
  unsigned thinning;  // one request in 2^thinning is kept
} ppi_requests;

pprof_status ppi_requests_take(ppi_requests *requests, const pprof_event *event,
                               uint32_t device);
// ppi_requests_order makes the order.
pprof_status ppi_requests_order(ppi_requests *requests);
// ppi_requests_size answers how many parts, from `at` on in their order, are
// one request; `out_reused`: its number was given to another one then.
size_t ppi_requests_size(const ppi_requests *requests, size_t at,
                         bool *out_reused);
// ppi_requests_next answers how many parts, from `at` on in their order, are
// one request, once it is filled, and when that ends; `out_counts`: it is among
// the figures.
size_t ppi_requests_next(const ppi_requests *requests, size_t at,
                         bool *out_counts, uint64_t *out_end_ns);
// ppi_requests_part answers a part, by its place in the order.
ppi_request_part ppi_requests_part(const ppi_requests *requests, size_t at);
void ppi_requests_clear(ppi_requests *requests);

PPROF_END_C_
