// SPDX-License-Identifier: Apache-2.0
//
// The sums of a log in a file beside it, LOG.pplog.sum: what a report of the
// log needs, so that the next one reads no events. Only the program file that
// wrote the sums uses them, and only while the log is the same file with the
// same contents. Without rights or room there are none, silently.
#pragma once

#include "cli/options.h"
#include "file/text.h"
#include "report/report.h"

typedef struct ppi_tool_sums {
  char *path;       // NULL: the log has none
  uint8_t key[32];  // of log and program
  size_t most;      // bytes of the file, about
} ppi_tool_sums;

// ppi_tool_sums_of finds where the sums of `log` are, or will be. There are
// none with --no-sums, for verbs without that option, for traces, unfinished
// logs and logs below 1 MiB.
void ppi_tool_sums_of(const struct ppi_tool_options *options, const char *log,
                      ppi_tool_sums *out);
void ppi_tool_sums_clear(ppi_tool_sums *sums);
// ppi_tool_sums_read answers a report with these details; NULL: there is none.
pprof_report *ppi_tool_sums_read(const ppi_tool_sums *sums,
                                 const ppi_report_details *details);
// ppi_tool_sums_write adds a report to the file, or replaces the file. The
// report has all runs of the log, not joined; that of an unfinished run is left
// out.
void ppi_tool_sums_write(const ppi_tool_sums *sums,
                         const ppi_report_details *details,
                         pprof_report *report);
// ppi_tool_sums_check computes each report in the file again, and puts a line.
// Answers PPI_EXIT_DONE or PPI_EXIT_DAMAGED.
int ppi_tool_sums_check(const struct ppi_tool_options *options, const char *log,
                        ppi_page *page);
