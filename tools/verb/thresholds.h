// SPDX-License-Identifier: Apache-2.0
//
// Reads thresholds of findings from one option.
#pragma once

#include "report/findings/findings.h"
#include "view/report_options.h"

// ppi_tool_thresholds_read reads "host-bound=30,uneven=5", in the units of
// docs/findings.md; `text` may be NULL. Answers PPI_EXIT_DONE, or
// PPI_EXIT_USAGE after a message on stderr.
int ppi_tool_thresholds_read(const char *text, ppi_findings_options *out);

// ppi_tool_peaks_read reads the text of `--peak`, or NULL, into `out`, unless
// that is NULL. Answers PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message.
int ppi_tool_peaks_read(const char *text, ppi_peaks *out);
