// SPDX-License-Identifier: Apache-2.0
//
// Figures that cannot be: the recording is wrong, and the answer says so.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef struct ppi_impossible {
  bool is_any;
  bool hides_findings;  // no share of the time holds
  char text[320];       // sentences; "": all may be
} ppi_impossible;

// ppi_impossible_of answers the first that it finds: a run of ten years, a
// device that is busy for more than its time, work of a stream that lasts over
// later work, or more than half of the events without anything usable.
ppi_impossible ppi_impossible_of(const ppi_figures *figures);

PPROF_END_C_
