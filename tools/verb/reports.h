// SPDX-License-Identifier: Apache-2.0
//
// The inputs of a verb as one report.
#pragma once

#include "cli/options.h"
#include "report/report.h"

// ppi_tool_reports_read reads each input once, also into `beside` (NULL: none),
// and adds them up. NULL when there is nothing to report; `*code` rises to what
// that means, after a message. The caller destroys the report.
pprof_report *ppi_tool_reports_read(const struct ppi_tool_options *options,
                                    const ppi_report_details *details,
                                    pprof_sink *beside, int *code);

// ppi_tool_report_judge is the exit status that the report itself asks for,
// after a message; `strict`: losses are failures.
int ppi_tool_report_judge(const pprof_report *report, bool strict);
