// SPDX-License-Identifier: Apache-2.0
//
// A report as one HTML file: the page, its styles and its script, and what
// they show as JSON. It asks nothing of the network and says so to the browser.
#pragma once

#include <stdio.h>

#include "html/picture.h"
#include "print/report_print.h"

PPROF_BEGIN_C_

// ppi_html_need adds what the page asks of a report, before its first run.
void ppi_html_need(ppi_report_details *details);
// ppi_html_write writes a finished report with the picture of the same logs. Of
// `options` it takes what a reader may ask of any format: thresholds, peaks.
// Errors: BUSY before finish; NO_MEMORY; IO.
pprof_status ppi_html_write(const pprof_report *report,
                            const ppi_picture *picture,
                            const ppi_report_options *options, FILE *out);

// A page of something else: its first lines, elements of JSON that its script
// asks for by their ids, its last lines. ppi_html_element frees `json`;
// NO_MEMORY where it is not whole, IO.
void ppi_html_begin(FILE *out);
pprof_status ppi_html_element(FILE *out, const char *id, ppi_page *json);
pprof_status ppi_html_end(FILE *out);

PPROF_END_C_
