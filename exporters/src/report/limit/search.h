// SPDX-License-Identifier: Apache-2.0
//
// What the rules share: the model, where requests' time goes, and the verdict.
// A rule answers true where it holds; the first that does is the verdict.
#pragma once

#include "report/figures/limit.h"
#include "report/limit/walk.h"

PPROF_BEGIN_C_

typedef struct ppi_limit_search {
  ppi_limit_model *model;
  ppi_blame blame;
  ppi_limit *out;
  bool failed;            // out of memory
  bool is_closed;         // requests begin when others end
  uint64_t closed_ns;     // how soon after
  double under_way;       // the greatest number of requests at a time
  double full_part;       // of the time at which it is reached
  double congested_ns;    // of all requests: what calls lose to each other
  uint32_t congested;     // the stage that loses most
  double congested_part;  // of its calls
  uint32_t servers[PPI_LIMIT_SERVERS];  // stations of the verdict's servers
} ppi_limit_search;

typedef bool (*ppi_limit_rule)(ppi_limit_search *search);

static const double ppi_saturated = 0.9;

PPROF_END_C_
