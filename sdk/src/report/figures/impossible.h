// SPDX-License-Identifier: Apache-2.0
//
// Figures that cannot be: the recording is wrong, and the answer says so.
#ifndef PPI_IMPOSSIBLE_H_
#define PPI_IMPOSSIBLE_H_

#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_impossible {
  bool is_any;
  bool hides_findings;  // no share of the time holds
  char text[320];       // sentences; "": all may be
} ppi_impossible;

// ppi_impossible_of answers the first that it finds: a run of ten years, a
// device that is busy for more than its time, work of a stream that lasts over
// later work, or more than half of the events without anything usable.
ppi_impossible ppi_impossible_of(const ppi_figures *figures);

#ifdef __cplusplus
}
#endif

#endif  // PPI_IMPOSSIBLE_H_
