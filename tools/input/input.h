// SPDX-License-Identifier: Apache-2.0
//
// Reads an input (a log, an unfinished log, a dead process's spool, another
// profiler's trace) into a sink, and watches the events.
#pragma once

#include "base/jobs.h"
#include "cli/say.h"
#include "input/repeated.h"
#include "pprof/event.h"

// Stands before a sink and keeps the data for the exit status.
struct ppi_tool_watch {
  pprof_sink base;
  pprof_sink *next;
  const char *path;            // the input's name in messages
  uint64_t num_lost;           // missing records, flows and names
  struct ppi_tool_runs *runs;  // NULL: runs may repeat
  bool repeated;               // the current run; none of its events pass
  size_t num_repeated;
  bool begun, finished, sink_failed;
  bool is_quiet;
  pprof_status sink_status;  // of the failure
};

// ppi_tool_read delivers `path` to `sink` (which it does not destroy). Answers
// PPI_EXIT_DONE, _INPUT or _DAMAGED, the latter two after a message.
int ppi_tool_read(const char *path, pprof_sink *sink,
                  struct ppi_tool_watch *watch);
// The same without runs that were read before; a message names the runs left
// out. Messages call the input `name`.
int ppi_tool_read_once(const char *path, const char *name, pprof_sink *sink,
                       struct ppi_tool_watch *watch,
                       struct ppi_tool_runs *runs);
// ppi_tool_read_once for the second time: no messages.
int ppi_tool_read_again(const char *path, pprof_sink *sink,
                        struct ppi_tool_watch *watch,
                        struct ppi_tool_runs *runs);
// ppi_tool_read_once without the events and checkpoints of a log: before a full
// read (`is_quiet`: no messages), or instead of it. `runs` may be NULL.
int ppi_tool_skim(const char *path, pprof_sink *sink, bool is_quiet,
                  struct ppi_tool_watch *watch, struct ppi_tool_runs *runs);
// Processes of traces with names that fit `pattern` are devices; NULL: none.
void ppi_tool_set_device_process(const char *pattern);
// Names in traces have the categories that `names.categories` of the
// configuration at `path` gives them; NULL: none. Answers PPI_EXIT_USAGE, after
// a message, for a file that is no configuration.
int ppi_tool_set_config(const char *path);
// ppi_tool_set_group_by separates equal names by "shape", by "stack=N" or by
// both with a comma between them; NULL: not. Answers PPI_EXIT_USAGE, after a
// message, for anything else.
int ppi_tool_set_group_by(const char *what);

// ppi_tool_set_jobs sets how many threads read and add up; LONG_MIN: as many as
// there are processors, for inputs that are worth it.
void ppi_tool_set_jobs(long num);
// ppi_tool_num_jobs answers how many threads these inputs get, 1 or more.
long ppi_tool_num_jobs(const char *const *paths, size_t num);
// ppi_tool_jobs answers the threads for an input, all inputs' own; NULL: none.
ppi_jobs *ppi_tool_jobs(const char *path);
void ppi_tool_end_jobs(void);

// An input as a log file, for verbs that read its bytes. A trace becomes a
// private log, and so do a spool and an unfinished log with a spool (joined.h).
struct ppi_tool_log {
  const char *path, *name;  // the file, and the caller's name for it
  char *made;               // of a trace; NULL: the input is a log
};
// Answers as ppi_tool_read does; closed in any case.
int ppi_tool_log_open(const char *path, struct ppi_tool_log *out);
void ppi_tool_log_close(struct ppi_tool_log *log);
// ppi_tool_write_log writes `input` to the log `path`, and replaces a file
// there.
int ppi_tool_write_log(const char *input, const char *path);
