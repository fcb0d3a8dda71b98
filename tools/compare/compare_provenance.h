// SPDX-License-Identifier: Apache-2.0
//
// Whether inputs were made in the same place in the same way. Most regressions
// are another machine.
#pragma once

#include "compare/compare_samples.h"
#include "file/text.h"

PPROF_BEGIN_C_

// Whether the runs say where they were made, as our own logs do.
bool ppi_provenance_known(const ppi_samples *samples);

// Appends a line to `out` for each way in which `b` was made differently than
// `a`; names are what the lines call them. False: none that matters. What is
// unknown of either differs in no way; what does not matter goes to `notes`.
bool ppi_provenance_differs(const ppi_samples *a, const char *a_name,
                            const ppi_samples *b, const char *b_name,
                            ppi_page *out, ppi_page *notes);

PPROF_END_C_
