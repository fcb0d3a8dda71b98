// SPDX-License-Identifier: Apache-2.0
//
// How much of a stage's time its thread was on a processor.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// From here on a stage computes, and up to there it waits.
#define PPI_COMPUTES 0.8
#define PPI_WAITS 0.2
// What to do about a thread that is ready and gets no processor.
#define PPI_NEXT_PROCESSOR                                            \
  "use fewer threads, give the process more processors, or move its " \
  "neighbours away."

// ppi_processor_of adds up what is known of a stage's calls on the host, of all
// categories.
ppi_cpu_sums ppi_processor_of(const ppi_figures *figures, const char *name);
// ppi_processor_share is the part of the time, of those calls that it is known
// of; < 0: of too few.
double ppi_processor_share(const ppi_cpu_sums *sums);
// ppi_processor_queued is the part in which all processors were taken; 0: not
// known of all those calls.
double ppi_processor_queued(const ppi_cpu_sums *sums);
// ppi_processor_ready is the sum of the two: the rest of the time the thread
// waited for something else. < 0: as above.
double ppi_processor_ready(const ppi_cpu_sums *sums);

PPROF_END_C_
