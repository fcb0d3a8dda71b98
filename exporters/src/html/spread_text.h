// SPDX-License-Identifier: Apache-2.0
//
// Distributions of stages, as the page draws them.
#ifndef PPI_SPREAD_TEXT_H_
#define PPI_SPREAD_TEXT_H_

#include "file/text.h"
#include "report/figures/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_spreads_put writes the member "spreads": of the stages with most time,
// how many calls are how long, in classes of an eighth of an octave; all of
// them, and the steady ones. NO_MEMORY.
pprof_status ppi_spreads_put(ppi_page *page, const ppi_figures *figures);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SPREAD_TEXT_H_
