// SPDX-License-Identifier: Apache-2.0
//
// What `compare` found as a page.
#pragma once

#include "compare/compare_text.h"

// ppi_compare_put_spreads appends the distributions of the compared stages.
void ppi_compare_put_spreads(ppi_page *page, const ppi_compare_result *result);

// ppi_compare_html writes `json`, the result as JSON, and `spreads` into
// --html's file, and frees both. Answers `code`, or what is worse.
int ppi_compare_html(const struct ppi_tool_options *options, ppi_page *json,
                     ppi_page *spreads, int code);
