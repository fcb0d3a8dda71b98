// SPDX-License-Identifier: Apache-2.0
//
// The Chrome writer: a sink for one thread.
#pragma once

#include "file/disk.h"
#include "pprof/export.h"

PPROF_BEGIN_C_

// ppi_chrome_writer_create_fd writes to `fd`, which stays open: for a trace on
// standard output. The calling thread writes it.
pprof_status ppi_chrome_writer_create_fd(int fd, bool gzip, pprof_sink **out,
                                         pprof_error *error);

// Limits the file's space; the writer keeps a reference to `disk`. Without
// room, callbacks answer IO. Call it before the first begin.
void ppi_chrome_writer_set_disk(pprof_sink *sink, ppi_disk *disk);
// Bounds finish's wait for the disk after a call of `ready`: 10 s by default.
// Bounds the bytes in memory that wait for it, too: 32 MiB by default, plus
// those of one call. Call it before the first begin.
void ppi_chrome_writer_set_bounds(pprof_sink *sink, uint64_t limit_ms,
                                  uint64_t most_bytes);
// The final path of the file, for a writer with a path.
const char *ppi_chrome_writer_path(const pprof_sink *sink);
// Whether the file has all runs and is closed.
bool ppi_chrome_writer_is_whole(const pprof_sink *sink);
// The errno of the file's failure; 0: none.
int ppi_chrome_writer_error(const pprof_sink *sink);

// A trace of several runs; each run is a process.
typedef struct ppi_chrome_plan {
  size_t num_runs;
  const uint64_t *shifts_ns;  // added to the times of each run
  uint64_t base_ns;           // realtime of the trace's zero; 0: unknown
  // A label for each run's process, which viewers show; a NULL label: none.
  // Borrowed while the writer lives. NULL: no labels.
  const char *const *labels;
} ppi_chrome_plan;

// ppi_chrome_writer_expect makes the writer take several runs, one after the
// other; the file is whole after the last finish. Call it before the first
// begin. Without it a second begin answers BUSY.
pprof_status ppi_chrome_writer_expect(pprof_sink *sink,
                                      const ppi_chrome_plan *plan);

PPROF_END_C_
