// SPDX-License-Identifier: Apache-2.0
//
// Lays out two inputs side by side, as data and as a table.
#pragma once

#include "compare/compare_text.h"

// Makes the rows, for people or as data; the caller clears the view.
void ppi_compare_pairs(const ppi_compare_result *result,
                       ppi_report_format format, ppi_view *out);
