// SPDX-License-Identifier: Apache-2.0
//
// Ranks more than two inputs, as data and as a table.
#pragma once

#include "compare/compare_text.h"

// Makes the rows, for a table or as data; the caller clears the view.
void ppi_compare_ranking(const ppi_compare_result *result, bool as_table,
                         ppi_view *out);
