// SPDX-License-Identifier: Apache-2.0
//
// Finds where the time of a stage is spent, more than one level inside it.
#pragma once

#include "report/findings/parts.h"

PPROF_BEGIN_C_

// The way down from a host stage. Each range has at least half of the time of
// the range around it, and a quarter of the stage's.
typedef struct ppi_deep {
  char way[128];     // "conv / gemm"; "": there is none
  const char *name;  // of the last one; NULL: there is none
  double share;      // part of the stage's time in the last one
} ppi_deep;

// ppi_deep_of needs figures with details.paths; without them the way is empty.
ppi_deep ppi_deep_of(const ppi_figures *figures, const ppi_costly *costly);

PPROF_END_C_
