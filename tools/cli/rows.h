// SPDX-License-Identifier: Apache-2.0
//
// Formats the output of verbs beside views.
#pragma once

#include "cli/options.h"
#include "print/report_print.h"

// The unit of --time-unit; the option table has checked it.
ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options);

// ppi_tool_rows_view appends a view in `format`, as wide as the output.
void ppi_tool_rows_view(ppi_page *page, const ppi_view *view,
                        const struct ppi_tool_options *options,
                        ppi_report_format format);

// A member of an object: a comma, "key":, and each line of `lines` as a text.
void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines);
