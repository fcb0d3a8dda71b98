// SPDX-License-Identifier: Apache-2.0
//
// Distributions of stages, as the page draws them.
#pragma once

#include "file/text.h"
#include "report/report.h"

// The number of classes, each an eighth of an octave.
#define PPI_SPREAD_CLASSES (8 * 64)
void ppi_spread_count(uint64_t counts[PPI_SPREAD_CLASSES], uint64_t ns,
                      uint64_t num);
// ppi_spread_put_counts writes a member with the classes that are not empty.
void ppi_spread_put_counts(ppi_page *page, const char *name,
                           const uint64_t counts[PPI_SPREAD_CLASSES]);

// ppi_spreads_put writes the member "spreads": the distributions of the stages
// with most time, of all calls and of steady ones. Names have at most
// `most_bytes`. NO_MEMORY.
pprof_status ppi_spreads_put(ppi_page *page, const ppi_figures *figures,
                             size_t most_bytes);
// ppi_spread_put_name writes the first `most_bytes` of a name.
void ppi_spread_put_name(ppi_page *page, const char *key, const char *name,
                         size_t most_bytes);
