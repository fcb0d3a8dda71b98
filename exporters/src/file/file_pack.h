// SPDX-License-Identifier: Apache-2.0
//
// The last step before the file: packs bytes if asked to, counts and writes
// them. One thread.
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

PPROF_END_C_
