// SPDX-License-Identifier: Apache-2.0
//
// The shared input of the rules: the model, the time of requests by reason, and
// the verdict. A rule answers true if it holds; the first such rule gives the
// verdict.
#pragma once

#include "report/figures/limit.h"
#include "report/limit/walk.h"

typedef struct ppi_limit_search {
  ppi_limit_model *model;
  ppi_blame blame;
  ppi_limit *out;
  bool failed;            // out of memory
  bool is_closed;         // requests begin when others end
  uint64_t closed_ns;     // delay from that end to the begin
  double under_way;       // the greatest number of requests at a time
  double full_part;       // part of the time with that number
  double congested_ns;    // of all requests: time that calls lose to each other
  uint32_t congested;     // the stage that loses most
  double congested_part;  // of its calls
  uint32_t servers[PPI_LIMIT_SERVERS];  // stations of the verdict's servers
} ppi_limit_search;

typedef bool (*ppi_limit_rule)(ppi_limit_search *search);
