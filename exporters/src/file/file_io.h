// SPDX-License-Identifier: Apache-2.0
//
// A file with a thread of its own, which alone waits for the disk. The caller
// hands it pieces; a bounded number may wait. Called by one thread.
#pragma once

#include <zlib.h>

#include "file/codec_fast.h"
#include "file/disk.h"
#include "file/part.h"

PPROF_BEGIN_C_

// The size of one write; zlib takes in no more without moving its window.
#define PPI_FILE_PIECE 65024

// In place of an errno: the session's limit on disk space, not an error of the
// disk.
#define PPI_FILE_OVER_LIMIT (-1)

typedef struct ppi_file_pack {
  ppi_part *part;  // where to; borrowed
  bool own_table;  // nobody else closes in this thread's table
  bool gzip;
  ppi_disk *disk;  // NULL: no limit. Pipes count for nothing
  unsigned char *packed;
  bool begun;             // gzip's header is written
  uint32_t crc, raw_len;  // of what was packed
  void *igzip;            // NULL: `stream` packs
  bool has_stream;
  z_stream stream;
} ppi_file_pack;

// False when out of memory; clear it all the same. igzip packs where the
// machine has it and `limit` allows it.
bool ppi_file_pack_open(ppi_file_pack *pack, bool gzip,
                        ppi_codec_library limit);
// Writes; `last`: these are the last bytes. 0, errno or PPI_FILE_OVER_LIMIT.
int ppi_file_pack_write(ppi_file_pack *pack, const void *bytes, size_t len,
                        bool last);
void ppi_file_pack_clear(ppi_file_pack *pack);

// Deadlines are of CLOCK_MONOTONIC.
#define PPI_FILE_NO_WAIT 0
#define PPI_FILE_FOR_EVER UINT64_MAX

typedef struct ppi_file_piece {
  struct ppi_file_piece *next;
  size_t len;
  char bytes[PPI_FILE_PIECE];
} ppi_file_piece;

typedef struct ppi_file_io ppi_file_io;

// Starts the thread, which writes `part` from its position on. The thread opens
// a pipe and waits for its reader. Up to `most_bytes` wait. On success it owns
// `part`.
pprof_status ppi_file_io_start(ppi_part *part, bool gzip, ppi_disk *disk,
                               uint64_t most_bytes, ppi_file_io **out);
bool ppi_file_io_has_room(ppi_file_io *io);
// Hands `*piece` over and puts an empty one in its place. With too many pieces
// in the queue the call waits, until the deadline; with NO_WAIT it takes the
// piece all the same. 0, ETIMEDOUT, ENOMEM, or the errno of the file: `*piece`
// stays then.
int ppi_file_io_put(ppi_file_io *io, ppi_file_piece **piece,
                    uint64_t deadline_ns);
// The deadline `limit_ms` from now, or from the begin of the write under way.
uint64_t ppi_file_io_deadline(ppi_file_io *io, uint64_t limit_ms);
// Ends the file and frees `io`. `whole`: once all is written the file gets its
// name; else it is removed. A thread that does not end in time is left behind:
// it removes the file and frees itself when its call returns. 0, errno,
// ETIMEDOUT or PPI_FILE_OVER_LIMIT.
int ppi_file_io_finish(ppi_file_io *io, bool whole, uint64_t deadline_ns);

// A whole file at once, from start to finish. Takes `part` unless it answers
// ENOMEM.
int ppi_file_io_write(ppi_part *part, const char *bytes, size_t len,
                      uint64_t limit_ms);

PPROF_END_C_
