// SPDX-License-Identifier: Apache-2.0
//
// How far the clocks of hosts differ, by the requests that go between them.
#pragma once

#include "report/figures/figures.h"

// A request's longest part, and a part of it on another host. Hosts have
// numbers from 0 on.
typedef struct ppi_host_call {
  const ppi_request_run *by, *of;  // the longest part's process, the other's
  uint32_t caller, callee;         // their hosts
  uint64_t at_ns;
  // If it is a call, the callee's clock is ahead by this at least, at most.
  int64_t least_ns, most_ns;
} ppi_host_call;

typedef struct ppi_host_links {
  size_t num_hosts, num_calls;
  bool *are_linked;  // by two hosts: a request goes from one to the other
  ppi_host_call *calls;
} ppi_host_links;

// ppi_bound_clocks bounds the difference of two clocks that a request goes
// between; 0 unless it is known. It changes `links`; false: no memory.
bool ppi_bound_clocks(ppi_host_links *links, ppi_host_clocks *clocks,
                      uint64_t *bound_ns);
