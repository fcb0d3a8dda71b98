// SPDX-License-Identifier: Apache-2.0
//
// Reads several logs at once, each in a process of its own, which hands over
// the figures and ends. The caller reads an input that leads to a message.
#pragma once

#include "cli/options.h"
#include "report/report.h"

typedef struct ppi_tool_readers ppi_tool_readers;

// ppi_tool_readers_begin starts the first processes, --jobs of them at most.
// NULL: there is one input or one job.
ppi_tool_readers *ppi_tool_readers_begin(const struct ppi_tool_options *options,
                                         const ppi_report_details *details);
// ppi_tool_readers_take answers the report of the next input, in their order;
// NULL: read it. Each call may start the next process.
pprof_report *ppi_tool_readers_take(ppi_tool_readers *readers);
// ppi_tool_readers_end ends what is left, and takes NULL.
void ppi_tool_readers_end(ppi_tool_readers *readers);
