// SPDX-License-Identifier: Apache-2.0
//
// What verbs print beside views.
#pragma once

#include "cli/options.h"
#include "print/report_print.h"

// What --time-unit names; the option table let only these pass.
ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options);

// ppi_tool_rows_view appends a view as --format has it, as wide as what
// --output names.
void ppi_tool_rows_view(ppi_page *page, const ppi_view *view,
                        const struct ppi_tool_options *options,
                        ppi_report_format format);

// A member of an object: a comma, "key":, and each line of `lines` as a text.
void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines);
