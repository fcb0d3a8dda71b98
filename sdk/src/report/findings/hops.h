// SPDX-License-Identifier: Apache-2.0
//
// For how long nothing went on for requests before each stage of theirs. Cold
// requests do not count.
#ifndef PPI_FINDINGS_HOPS_H_
#define PPI_FINDINGS_HOPS_H_

#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_hops {
  const char *name;  // of the stage that most time passed before; NULL: none
  uint64_t hop_ns;   // that time
  uint64_t all_ns;   // of all requests
} ppi_hops;

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_FINDINGS_HOPS_H_
