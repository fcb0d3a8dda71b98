// SPDX-License-Identifier: Apache-2.0
//
// Tables of verbs that print something else than reports, in each format.
#ifndef PPI_TOOL_ROWS_H_
#define PPI_TOOL_ROWS_H_

#include "cli/options.h"
#include "print/report_print.h"

// What --time-unit names; the option table let only these pass.
ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options);

// ppi_tool_rows_put appends `view` as a table, CSV or Markdown; JSON gets the
// members "columns" and "rows" of an object.
void ppi_tool_rows_put(ppi_page *page, const ppi_view *view,
                       ppi_report_format format, ppi_time_unit unit);
// A member of an object: a comma, "key":, and each line of `lines` as a text.
void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines);

#endif  // PPI_TOOL_ROWS_H_
