// SPDX-License-Identifier: Apache-2.0
//
// The share of a stage's time that its thread was on a processor.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// From the first share on a stage computes; up to the second one it waits.
#define PPI_COMPUTES 0.8
#define PPI_WAITS 0.2
// The advice for a thread that is ready and gets no processor.
#define PPI_NEXT_PROCESSOR                                            \
  "use fewer threads, give the process more processors, or move its " \
  "neighbours away."

// ppi_processor_of sums the known CPU use of a stage's host calls, of all
// categories.
ppi_cpu_sums ppi_processor_of(const ppi_figures *figures, const char *name);
// ppi_processor_share is the share on a processor, over calls with known CPU
// use; < 0: too few.
double ppi_processor_share(const ppi_cpu_sums *sums);
// ppi_processor_queued is the share in which all processors were taken; 0:
// unknown for some of those calls.
double ppi_processor_queued(const ppi_cpu_sums *sums);
// ppi_processor_ready is the sum of the two; for the rest, the thread waited
// for something else. < 0: too few calls.
double ppi_processor_ready(const ppi_cpu_sums *sums);

PPROF_END_C_
