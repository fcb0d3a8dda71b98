// SPDX-License-Identifier: Apache-2.0
//
// The Chrome writer: a sink. One thread, the one that calls it.
#pragma once

#include "file/disk.h"
#include "pprof/export.h"

PPROF_BEGIN_C_

// ppi_chrome_writer_create_fd writes to `fd`, which stays the caller's and is
// not closed: for a trace that goes to standard output. It is written by the
// thread that calls.
pprof_status ppi_chrome_writer_create_fd(int fd, bool gzip, pprof_sink **out,
                                         pprof_error *error);

// What the file may take; the writer holds a reference. Where there is no room,
// its callbacks answer IO. Before the first begin.
void ppi_chrome_writer_set_disk(pprof_sink *sink, ppi_disk *disk);
// How long finish waits for the disk where `ready` was asked, 10 s, and what
// may wait for it in memory, 32 MiB and what one call adds. Before the first
// begin.
void ppi_chrome_writer_set_bounds(pprof_sink *sink, uint64_t limit_ms,
                                  uint64_t most_bytes);
// Of a writer with a path: what the file is called in the end.
const char *ppi_chrome_writer_path(const pprof_sink *sink);
// Whether all runs are in it and it is closed.
bool ppi_chrome_writer_is_whole(const pprof_sink *sink);
// Why it failed at its file, as errno; 0: it did not.
int ppi_chrome_writer_error(const pprof_sink *sink);

// A trace of several runs, each of which is a process in it.
typedef struct ppi_chrome_plan {
  size_t num_runs;
  const uint64_t *shifts_ns;  // added to the times of each run
  uint64_t base_ns;           // realtime of the trace's zero; 0: unknown
  // What viewers show beside each run's process, NULL: nothing; borrowed while
  // the writer lives. NULL: none has any.
  const char *const *labels;
} ppi_chrome_plan;

// ppi_chrome_writer_expect makes the writer take as many runs, one after the
// other; the file is whole when the last one finished. Before the first begin.
// Without it a second begin is answered BUSY.
pprof_status ppi_chrome_writer_expect(pprof_sink *sink,
                                      const ppi_chrome_plan *plan);

PPROF_END_C_
