// SPDX-License-Identifier: Apache-2.0
//
// A file written by a thread of its own, which alone waits for the disk: what
// is to be written goes to it in pieces, of which a bounded number may wait.
// Called by one thread.
#pragma once

#include "file/file_pack.h"

PPROF_BEGIN_C_

// Deadlines are of CLOCK_MONOTONIC.
#define PPI_FILE_NO_WAIT 0
#define PPI_FILE_FOR_EVER UINT64_MAX

typedef struct ppi_file_piece {
  struct ppi_file_piece *next;
  size_t len;
  char bytes[PPI_FILE_PIECE];
} ppi_file_piece;

typedef struct ppi_file_io ppi_file_io;

// Starts the thread, which writes `part` from where it stands; a pipe is opened
// by it, and waits for its reader there. Up to `most_bytes` wait. On success it
// owns `part`.
pprof_status ppi_file_io_start(ppi_part *part, bool gzip, ppi_disk *disk,
                               uint64_t most_bytes, ppi_file_io **out);
bool ppi_file_io_has_room(ppi_file_io *io);
// Hands `*piece` over and puts an empty one in its place. Where too much waits
// already, so does the call, until the deadline; with NO_WAIT it takes the
// piece all the same. 0, ETIMEDOUT, ENOMEM, or what has failed at the file:
// `*piece` stays then.
int ppi_file_io_put(ppi_file_io *io, ppi_file_piece **piece,
                    uint64_t deadline_ns);
// When `limit_ms` are over: a write that lasts already has begun to use them.
uint64_t ppi_file_io_deadline(ppi_file_io *io, uint64_t limit_ms);
// Ends the file and frees `io`. `whole`: when all is written it gets its name;
// else it is removed. A thread that does not end in time is left behind: it
// removes the file and frees itself when its call returns. 0, errno, ETIMEDOUT
// or PPI_FILE_OVER_LIMIT.
int ppi_file_io_finish(ppi_file_io *io, bool whole, uint64_t deadline_ns);

// A whole file at once, from start to finish. Takes `part` unless it answers
// ENOMEM.
int ppi_file_io_write(ppi_part *part, const char *bytes, size_t len,
                      uint64_t limit_ms);

PPROF_END_C_
