// SPDX-License-Identifier: Apache-2.0
//
// Figures that cannot be true: the recording is wrong, and the answer names the
// figure.
#pragma once

#include "report/figures/figures.h"

typedef struct ppi_impossible {
  bool is_any;
  bool hides_findings;  // no share of the time is right
  char text[320];       // sentences; "": all figures are possible
} ppi_impossible;

// ppi_impossible_of answers the first impossible figure. Impossible are a run
// of ten years, a device busy beyond its time and overlapping work of a stream.
// A recording with most events unusable counts, too.
ppi_impossible ppi_impossible_of(const ppi_figures *figures);
