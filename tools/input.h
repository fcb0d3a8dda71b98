// SPDX-License-Identifier: Apache-2.0
//
// Reads what the command line names (a log, an unfinished log, the spool of a
// dead process) into a sink, and watches what passes.
#ifndef PPI_TOOL_INPUT_H_
#define PPI_TOOL_INPUT_H_

#include "options.h"
#include "pprof/event.h"

// Stands before a sink and keeps what the exit status depends on.
struct ppi_tool_watch {
  pprof_sink base;
  pprof_sink *next;
  uint64_t num_lost;  // records, flows and names that are not there
  bool begun, finished, sink_failed;
  pprof_status sink_status;  // of the failure
};

// ppi_tool_read delivers `path` to `sink` (which it does not destroy). Answers
// PPI_EXIT_DONE, _INPUT or _DAMAGED, the latter two after a message.
int ppi_tool_read(const char *path, pprof_sink *sink,
                  struct ppi_tool_watch *watch);
bool ppi_tool_is_spool(const char *path);

#endif  // PPI_TOOL_INPUT_H_
