// SPDX-License-Identifier: Apache-2.0
//
// Reads the inputs of a verb into one report.
#pragma once

#include "cli/options.h"
#include "report/report.h"

// ppi_tool_reports_read reads each input once, also into `beside` (NULL: none),
// and adds them up. NULL: nothing to report. `*code` rises to the exit code of
// that, after a message. The caller destroys the report.
pprof_report *ppi_tool_reports_read(const struct ppi_tool_options *options,
                                    const ppi_report_details *details,
                                    pprof_sink *beside, int *code);

// ppi_tool_report_judge answers the exit status of the report's own checks,
// after a message; `strict`: losses are failures.
int ppi_tool_report_judge(const pprof_report *report, bool strict);
