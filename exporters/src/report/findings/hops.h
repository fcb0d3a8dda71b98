// SPDX-License-Identifier: Apache-2.0
//
// The time without any work for requests before each of their stages. Cold
// requests do not count.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef struct ppi_hops {
  const char *name;  // the stage with most of that time before it; NULL: none
  uint64_t hop_ns;   // that time
  uint64_t all_ns;   // of all requests
} ppi_hops;

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out);

PPROF_END_C_
