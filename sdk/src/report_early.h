// SPDX-License-Identifier: Apache-2.0
//
// The first calls of a stage, in the order of time, apart from the rest, so
// that its beginning can be told from how it goes on. One thread at a time.
#ifndef PPI_REPORT_EARLY_H_
#define PPI_REPORT_EARLY_H_

#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_EARLY_CALLS 128

typedef struct ppi_early_call {
  uint64_t start_ns, length_ns;
} ppi_early_call;

// All zero is the empty one. Which calls are `calls` does not depend on the
// order in which they come.
typedef struct ppi_early {
  ppi_early_call *calls;  // a heap, the latest first
  size_t num, capacity;
  ppi_spread rest;
  ppi_histogram rest_times;
} ppi_early;

// How a stage began and went on. The first call of each run is a cold one, too,
// when there are any.
typedef struct ppi_phases {
  ppi_spread first;         // of each run
  ppi_spread cold, steady;  // all calls are one or the other
  ppi_histogram steady_times;
} ppi_phases;

pprof_status ppi_early_add(ppi_early *early, uint64_t start_ns,
                           uint64_t length_ns);
// ppi_early_split adds one run's calls to `into`. `warmup` is how many are
// cold; negative: as many as are found to be.
pprof_status ppi_early_split(ppi_early *early, long warmup, ppi_phases *into);
void ppi_early_clear(ppi_early *early);

pprof_status ppi_phases_merge(ppi_phases *into, const ppi_phases *from);
void ppi_phases_clear(ppi_phases *phases);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_EARLY_H_
