// SPDX-License-Identifier: Apache-2.0
//
// Checks whether inputs were made in the same place in the same way. Most
// regressions come from another machine.
#pragma once

#include "compare/compare_samples.h"

PPROF_BEGIN_C_

// Whether the runs have their provenance, as our own logs do.
bool ppi_provenance_known(const ppi_samples *samples);

// Appends a line to `out` for each difference in the provenance of `b` and `a`,
// with the inputs' names. False: no difference matters. Unknown values never
// differ; differences that do not matter go to `notes`.
bool ppi_provenance_differs(const ppi_samples *a, const char *a_name,
                            const ppi_samples *b, const char *b_name,
                            ppi_page *out, ppi_page *notes);

PPROF_END_C_
