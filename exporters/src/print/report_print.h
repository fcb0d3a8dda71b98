// SPDX-License-Identifier: Apache-2.0
//
// The list of views, and how views of a report are printed to a stream.
#pragma once

#include <stdio.h>

#include "print/lists.h"
#include "view/view.h"

PPROF_BEGIN_C_

// ppi_report_write writes a finished report; pprof_report_write_* call it.
// Errors: BUSY before finish; INVALID for a view that is not there; IO.
pprof_status ppi_report_write(const pprof_report *report,
                              const ppi_report_options *options,
                              ppi_report_format format, FILE *out);
// ppi_figures_write does it for figures.
pprof_status ppi_figures_write(const ppi_figures *figures,
                               const ppi_report_options *options,
                               ppi_report_format format, FILE *out);

// ppi_print_view appends one view as a table, CSV or Markdown; JSON gets the
// members "columns" and "rows" of an object. `how`: its unit, width and
// columns.
void ppi_print_view(ppi_page *page, const ppi_view *view,
                    ppi_report_format format, const ppi_report_options *how);

// ppi_report_format_of: the format called `name`; the first where none is.
ppi_report_format ppi_report_format_of(const char *name);

// ppi_report_usual_style is the style of a print that names none.
ppi_report_style ppi_report_usual_style(const char *views,
                                        ppi_report_format format);
// ppi_report_columns appends the names of columns of a style, or of `views`:
// "a|b".
void ppi_report_columns(ppi_report_style style, const char *views,
                        ppi_page *out);
// ppi_report_need adds the details that a report must collect for a print.
void ppi_report_need(const ppi_report_options *options,
                     ppi_report_format format, ppi_report_details *details);

// ppi_view_kinds lists all views in the order they are printed; NULL ends it.
// The views that are styles are not among them.
const ppi_view_kind *const *ppi_view_kinds(void);

PPROF_END_C_
