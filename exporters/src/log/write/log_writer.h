// SPDX-License-Identifier: Apache-2.0
//
// The interface of a log writer to our own code, beyond the public calls.
#pragma once

#include "file/disk.h"
#include "file/part.h"
#include "pprof/log.h"

PPROF_BEGIN_C_

typedef struct ppi_log_writer_stats {  // of the latest run
  uint64_t num_blocks;                 // closed so far
  uint64_t num_blocks_lost;  // closed, and after finish not in the file
  uint64_t num_bytes;        // of blocks in the file
} ppi_log_writer_stats;

typedef struct ppi_log_rotation {
  uint64_t segment_bytes;  // when a segment is full; 0: the log is one file
  uint32_t keep;           // segments there are at most; 0: all
  ppi_disk *disk;          // NULL: no limit. The writer takes a reference
} ppi_log_rotation;

// Room that the disk's limit must leave to a log in segments: for the newest
// whole segment, the current one, and blocks that end beyond its length.
static inline uint64_t ppi_log_rotation_least_disk(uint64_t segment_bytes) {
  return 2 * segment_bytes + 512 * 1024;
}

// pprof_log_writer_create, for "runs/x.pplog" as segments "runs/x.0001.pplog"
// and so on, each of them a log. The one that is being written is
// "runs/x.pplog.part". Where the disk's limit leaves no room, the log ends
// there: what comes later is counted lost in it, and finish answers IO.
// `rotation` may be NULL.
pprof_status ppi_log_writer_create(const char *path,
                                   const ppi_log_rotation *rotation,
                                   pprof_sink **out, pprof_error *error);

// `sink` must be a log writer. Sets the time that finish waits for the disk;
// the default is 10 s.
void ppi_log_writer_set_limit_ms(pprof_sink *sink, uint64_t limit_ms);
ppi_log_writer_stats ppi_log_writer_look(pprof_sink *sink);
// The first failure as text; "": none.
const char *ppi_log_writer_error(const pprof_sink *sink);
// A message that the log has another name than the wanted one; "": none.
const char *ppi_log_writer_note(const pprof_sink *sink);
// Its path until finish, and after it.
const char *ppi_log_writer_part_path(const pprof_sink *sink);
const char *ppi_log_writer_path(const pprof_sink *sink);

// "runs/x.pplog" and "1" give "runs/x.1.pplog".
ppi_path ppi_log_sibling_path(const char *path, const char *infix);
// The same of a number; 0: the path itself.
ppi_path ppi_log_numbered_path(const char *path, int number);

PPROF_END_C_
