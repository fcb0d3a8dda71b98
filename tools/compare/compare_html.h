// SPDX-License-Identifier: Apache-2.0
//
// What `compare` found as a page.
#ifndef PPI_COMPARE_HTML_H_
#define PPI_COMPARE_HTML_H_

#include "compare/compare_text.h"

// ppi_compare_html writes `json`, the result as JSON, which it frees, with the
// distributions of all samples into --html's file. Answers `code`, or what is
// worse.
int ppi_compare_html(const struct ppi_tool_options *options,
                     const ppi_compare_result *result, ppi_page *json,
                     int code);

#endif  // PPI_COMPARE_HTML_H_
