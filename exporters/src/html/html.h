// SPDX-License-Identifier: Apache-2.0
//
// A report as one HTML file: the page, its styles, its script and its figures
// as JSON. The page uses no network; its policy makes the browser enforce that.
#pragma once

#include <stdio.h>

#include "html/picture.h"
#include "print/report_print.h"

// ppi_html_need adds the details that the page needs; call it before the
// report's first run.
void ppi_html_need(ppi_report_details *details);
// ppi_html_write writes a finished report with the picture of the same logs. It
// uses only thresholds, peaks and costs of `options`. Errors: BUSY before
// finish; NO_MEMORY; IO.
pprof_status ppi_html_write(const pprof_report *report,
                            const ppi_picture *picture,
                            const ppi_report_options *options, FILE *out);

// The parts of any other page: its first lines, JSON elements by id, its last
// lines. ppi_html_element frees `json`. Errors: NO_MEMORY, `json` is not whole;
// IO.
void ppi_html_begin(FILE *out);
pprof_status ppi_html_element(FILE *out, const char *id, ppi_page *json);
pprof_status ppi_html_end(FILE *out);
