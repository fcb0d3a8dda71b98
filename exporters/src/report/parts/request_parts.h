// SPDX-License-Identifier: Apache-2.0
//
// Requests of one run, by flow. Their parts are gathered while the run is
// delivered, and ordered when it has ended. One thread at a time.
#pragma once

#include "report/parts/ids.h"
#include "report/parts/request_walk.h"

PPROF_BEGIN_C_

// Above this number of parts, one request in two, four, ... stays. A hash of
// the flow selects it, so the order of arrival has no effect.
#define PPI_REQUESTS_MAX_PARTS 400000u

// A request with more parts is not walked: a walk takes quadratic time.
#define PPI_REQUEST_MOST_PARTS 4096u

// A range that serves a request. There are many, so rare fields have a struct
// of their own.
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

// What the parts of a site are.
typedef struct ppi_request_site {
  bool is_whole;  // mostly the request itself
  bool waits;     // its thread waits for others
} ppi_request_site;

// Device work of no request, which requests may have to wait for.
typedef struct ppi_request_others {
  ppi_map devices;  // by id
  ppi_union *busy;  // of each
  size_t num, capacity;
  size_t num_ranges;  // in all of them
  bool dropped;       // there were too many
} ppi_request_others;

// One request, and its parts by place in the order of all.
typedef struct ppi_request {
  uint64_t start_ns, end_ns;
  size_t at, num;
  bool is_reused;  // a later request has its number
  bool is_cut;     // a part is
  bool crosses;    // its parts are of several windows
} ppi_request;

// ppi_request_counts: it is among the figures.
static inline bool ppi_request_counts(const ppi_request *request) {
  return !request->is_cut && !request->crosses &&
         request->num <= PPI_REQUEST_MOST_PARTS;
}

// All zero is the empty one; `max_parts` 0 is PPI_REQUESTS_MAX_PARTS.
typedef struct ppi_requests {
  ppi_kept_part *parts;
  size_t num, capacity, max_parts;
  ppi_part_more *more;
  size_t num_more, more_capacity;
  // Once in order: parts by flow and begin, outer parts before inner ones; the
  // requests. Once filled: the sites.
  uint32_t *order;
  ppi_request *list;
  size_t num_list, list_capacity;
  ppi_request_site *sites;
  ppi_request_others others;
  bool are_links;     // flows join ranges and are no requests
  bool has_stages;    // a range with a flow is not of pprof_request_begin
  unsigned thinning;  // one request in 2^thinning is kept
} ppi_requests;

bool ppi_requests_take(ppi_requests *requests, const pprof_event *event,
                       uint32_t device);
// ppi_requests_abound: so many requests are whole that some count at the end,
// even if later parts cut others.
bool ppi_requests_abound(const ppi_requests *requests);
// ppi_requests_order makes the order and the list.
bool ppi_requests_order(ppi_requests *requests);
static inline uint64_t ppi_kept_end(const ppi_requests *requests,
                                    const ppi_kept_part *part) {
  return part->more ? requests->more[part->more - 1].end_ns
                    : part->start_ns + part->length_ns;
}
// ppi_requests_parts writes `num` parts from a place in the order on.
void ppi_requests_parts(const ppi_requests *requests, size_t at, size_t num,
                        ppi_request_part *out);
void ppi_requests_clear(ppi_requests *requests);

PPROF_END_C_
