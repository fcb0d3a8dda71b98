// SPDX-License-Identifier: Apache-2.0
//
// For how long nothing went on for requests before each stage of theirs. Cold
// requests do not count.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef struct ppi_hops {
  const char *name;  // of the stage that most time passed before; NULL: none
  uint64_t hop_ns;   // that time
  uint64_t all_ns;   // of all requests
} ppi_hops;

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out);

PPROF_END_C_
