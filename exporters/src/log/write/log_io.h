// SPDX-License-Identifier: Apache-2.0
//
// The I/O thread of a log writer. No other thread writes the file, so a blocked
// disk delays nothing else. Called by the writer on the collector's thread.
#pragma once

#include "file/buffer.h"
#include "file/disk.h"
#include "file/part.h"
#include "log/format/log_format.h"
#include "spool/staging.h"

typedef struct ppi_log_io ppi_log_io;

typedef struct ppi_log_io_state {
  uint64_t num_written;  // blocks
  uint64_t num_bytes;
  int error;         // errno of the first failure; blocks are no longer written
  uint32_t segment;  // the current one, from 1
  uint32_t num_aside;  // segments with a name that was taken
} ppi_log_io_state;

// Limits of the space beside the file, and the segments that may be removed for
// it.
typedef struct ppi_log_io_files {
  uint32_t keep;   // the most segments; 0: no limit
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
void ppi_log_io_wake(ppi_log_io *io);  // a block was staged
ppi_log_io_state ppi_log_io_look(ppi_log_io *io);
// The record of the lane up to which all are in the file.
uint64_t ppi_log_io_kept(ppi_log_io *io, uint32_t lane);
// Waits until more than `num_written` blocks are written, a write failed, or
// CLOCK_MONOTONIC reaches `deadline_ns`; false for the last.
bool ppi_log_io_wait(ppi_log_io *io, uint64_t num_written,
                     uint64_t deadline_ns);
// The last bytes of the file after a failed write: finish writes them, into
// reserved room if the file system can reserve. Copied.
void ppi_log_io_last_words(ppi_log_io *io, const ppi_buffer *words);
// Ends the thread once the ring is empty or something failed, closes the file
// and frees `io`. When the deadline comes first, the thread is left behind: it
// touches the ring no more and frees itself when its write returns. Answers
// errno, ETIMEDOUT then.
int ppi_log_io_finish(ppi_log_io *io, uint64_t deadline_ns,
                      ppi_log_io_state *out);

// write() until all is written; 0 or errno.
int ppi_write_all(int fd, const void *bytes, size_t len);
