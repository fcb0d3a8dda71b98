// SPDX-License-Identifier: Apache-2.0
//
// What `compare` found as a page.
#pragma once

#include "compare/compare_text.h"

// ppi_compare_html writes `json`, the result as JSON, which it frees, with the
// distributions of all samples into --html's file. Answers `code`, or what is
// worse.
int ppi_compare_html(const struct ppi_tool_options *options,
                     const ppi_compare_result *result, ppi_page *json,
                     int code);
