// SPDX-License-Identifier: Apache-2.0
//
// More than two inputs, ranked: as data, and as a table.
#pragma once

#include "compare/compare_text.h"

// The rows, for a table or as data; false when out of memory. The view is the
// caller's to clear in any case.
bool ppi_compare_ranking(const ppi_compare_result *result, bool as_table,
                         ppi_view *out);
