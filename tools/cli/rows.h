// SPDX-License-Identifier: Apache-2.0
//
// Formats the output of verbs beside views.
#pragma once

#include "cli/options.h"
#include "print/report_print.h"

// The unit of --time-unit; the option table has checked it.
ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options);

// ppi_tool_row adds a row and answers its cells, all none, until the next call.
ppi_cell *ppi_tool_row(ppi_view *view);
// ppi_tool_rows_view appends a view in `format`, as wide as the output.
void ppi_tool_rows_view(ppi_page *page, const ppi_view *view,
                        const struct ppi_tool_options *options,
                        ppi_report_format format);

// A member of an object: each line of `lines` as a text.
void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines);

// ppi_tool_rows_begin opens the object that a verb prints as JSON.
void ppi_tool_rows_begin(ppi_page *page, const char *schema);
// ppi_tool_rows_all appends a view in --format. As JSON its notes follow it,
// and the object ends; where nothing is before it, it begins, too.
void ppi_tool_rows_all(ppi_page *page, const ppi_view *view,
                       const struct ppi_tool_options *options,
                       const char *schema);
