// SPDX-License-Identifier: Apache-2.0
//
// Prints the results of `compare`: two inputs side by side, or more inputs
// ranked.
#pragma once

#include "compare/compare_text.h"

// Answers the worse of `code` and its own.
int ppi_compare_print(const struct ppi_tool_options *options,
                      const ppi_compare_result *result, int code);
