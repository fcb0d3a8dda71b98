// SPDX-License-Identifier: Apache-2.0
//
// The I/O thread of a log writer: it alone writes the file, so that a blocked
// disk stops nobody else. Called by the writer on the collector's thread.
#pragma once

#include "file/buffer.h"
#include "file/disk.h"
#include "file/part.h"
#include "log/format/log_format.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

typedef struct ppi_log_io ppi_log_io;

typedef struct ppi_log_io_state {
  uint64_t num_written;  // blocks
  uint64_t num_bytes;
  int error;           // errno of the first failure; no block is written then
  uint32_t segment;    // the one that is being written, from 1
  uint32_t num_aside;  // segments with a name that something else had
} ppi_log_io_state;

// What may be there beside the file, and what may go for it.
typedef struct ppi_log_io_files {
  uint32_t keep;   // segments there are at most; 0: all
  ppi_disk *disk;  // swept before each block; NULL: no limit
} ppi_log_io_files;

// Starts the thread. It writes `header` (PPI_LOG_FILE_HEADER_SIZE bytes) where
// `part` stands, then each block that comes into `staging`. A run info that
// begins again begins a segment: what was written before it gets a segment's
// name, and a file of its own begins with the header again. On success it has
// taken part->fd; the part's paths, by which segments are named, are copied.
pprof_status ppi_log_io_start(ppi_part *part, const ppi_log_io_files *files,
                              ppi_staging *staging, const uint8_t *header,
                              ppi_log_io **out);
void ppi_log_io_wake(ppi_log_io *io);  // something was staged
ppi_log_io_state ppi_log_io_look(ppi_log_io *io);
// Waits until more than `num_written` blocks are written, something failed or
// CLOCK_MONOTONIC reaches `deadline_ns`; false for the last.
bool ppi_log_io_wait(ppi_log_io *io, uint64_t num_written,
                     uint64_t deadline_ns);
// What the file ends with where writing has failed: written by finish, into
// room that was put by for it as far as the file system can. Copied.
void ppi_log_io_last_words(ppi_log_io *io, const ppi_buffer *words);
// Ends the thread once the ring is empty or something failed, closes the file
// and frees `io`. When the deadline comes first, the thread is left behind: it
// touches the ring no more and frees itself when its write returns. Answers
// errno, ETIMEDOUT then.
int ppi_log_io_finish(ppi_log_io *io, uint64_t deadline_ns,
                      ppi_log_io_state *out);

// write() until all is written; 0 or errno.
int ppi_write_all(int fd, const void *bytes, size_t len);

PPROF_END_C_
