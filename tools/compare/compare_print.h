// SPDX-License-Identifier: Apache-2.0
//
// The results of `compare`, written: two inputs side by side, or more of them
// ranked.
#pragma once

#include "cli/options.h"
#include "compare/compare_text.h"
#include "print/report_print.h"

// Answers `code`, or what is worse.
int ppi_compare_print(const struct ppi_tool_options *options,
                      const ppi_compare_result *result, int code);
