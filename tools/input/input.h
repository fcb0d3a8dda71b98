// SPDX-License-Identifier: Apache-2.0
//
// Reads what the command line names (a log, an unfinished log, the spool of a
// dead process, another profiler's trace) into a sink, and watches what passes.
#pragma once

#include "cli/say.h"
#include "input/repeated.h"
#include "pprof/event.h"

// Stands before a sink and keeps what the exit status depends on.
struct ppi_tool_watch {
  pprof_sink base;
  pprof_sink *next;
  const char *path;            // what messages call the input
  uint64_t num_lost;           // records, flows and names that are not there
  struct ppi_tool_runs *runs;  // NULL: a run may come again
  bool repeated;               // the one that is read; nothing of it passes
  size_t num_repeated;
  bool begun, finished, sink_failed;
  bool is_quiet;
  pprof_status sink_status;  // of the failure
};

// ppi_tool_read delivers `path` to `sink` (which it does not destroy). Answers
// PPI_EXIT_DONE, _INPUT or _DAMAGED, the latter two after a message.
int ppi_tool_read(const char *path, pprof_sink *sink,
                  struct ppi_tool_watch *watch);
// The same of runs that were not read before; a message names what is left out.
// Messages call the input `name`.
int ppi_tool_read_once(const char *path, const char *name, pprof_sink *sink,
                       struct ppi_tool_watch *watch,
                       struct ppi_tool_runs *runs);
// ppi_tool_read_once for the second time: no messages.
int ppi_tool_read_again(const char *path, pprof_sink *sink,
                        struct ppi_tool_watch *watch,
                        struct ppi_tool_runs *runs);
// ppi_tool_read without the events and checkpoints of a log, before it is read
// (`is_quiet`: nothing is said) or instead.
int ppi_tool_skim(const char *path, pprof_sink *sink, bool is_quiet,
                  struct ppi_tool_watch *watch);
// Processes of traces with names that fit `pattern` are devices; NULL: none.
void ppi_tool_set_device_process(const char *pattern);
// Names in traces have the categories that `names.categories` of the
// configuration at `path` gives them; NULL: none. Answers PPI_EXIT_USAGE, after
// a message, for a file that is none.
int ppi_tool_set_config(const char *path);
// ppi_tool_set_group_by separates equal names by "shape", by "stack=N" or by
// both with a comma between them; NULL: not. Answers PPI_EXIT_USAGE, after a
// message, for anything else.
int ppi_tool_set_group_by(const char *what);

// What the command line names as a log file, for verbs that look at its bytes:
// a trace becomes a log that nobody else sees, and so do a spool and a log that
// lacks what its spool has (joined.h).
struct ppi_tool_log {
  const char *path, *name;  // what is read, and what the caller calls it
  char *made;               // of a trace; NULL: it is none
};
// Answers as ppi_tool_read does; closed in any case.
int ppi_tool_log_open(const char *path, struct ppi_tool_log *out);
void ppi_tool_log_close(struct ppi_tool_log *log);
// ppi_tool_write_log makes the log `path` of what `input` names; it replaces
// what is called that.
int ppi_tool_write_log(const char *input, const char *path);
