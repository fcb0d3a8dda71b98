// SPDX-License-Identifier: Apache-2.0
//
// Passes closed blocks of a log to its I/O thread: the staging ring, a backlog
// for when the ring is full, and by lane the records that these blocks keep.
// Called by the log writer on the collector's thread.
#pragma once

#include "log/format/backlog.h"
#include "log/format/lane_high_water.h"
#include "log/write/log_io.h"

typedef struct ppi_log_ring {
  ppi_staging *staging;
  void *heap;     // the ring's memory if it is not in the spool
  bool in_spool;  // the ring's content outlives the process
  ppi_backlog backlog;
  uint64_t num_staged;       // blocks
  ppi_lane_high_water kept;  // of blocks in the spool's ring
} ppi_log_ring;

// Takes the ring of `spool`, if it is free and long enough, for the log at
// `part_path`, else a ring in memory. False: out of memory.
bool ppi_log_ring_open(ppi_log_ring *ring, ppi_staging *spool,
                       const char *part_path);
void ppi_log_ring_restart(ppi_log_ring *ring);  // a further run
void ppi_log_ring_clear(ppi_log_ring *ring);

// Put takes whole blocks, with or without room; drain moves the backlog as room
// comes. Errors: NO_MEMORY.
pprof_status ppi_log_ring_put(ppi_log_ring *ring, ppi_log_io *io,
                              const uint8_t *blocks, size_t len);
void ppi_log_ring_drain(ppi_log_ring *ring, ppi_log_io *io);
// Reserves the backlog. Records that are not in the ring stay in lanes of the
// spool, and the ring is an eighth of it. So no more than this comes together
// for the session's log.
bool ppi_log_ring_has_room(const ppi_log_ring *ring);
bool ppi_log_ring_is_behind(const ppi_log_ring *ring);
// The record up to which the log keeps its input: once its block is in the
// spool's ring or, without one, in the file. `io` may be NULL.
uint64_t ppi_log_ring_kept(const ppi_log_ring *ring, ppi_log_io *io,
                           uint32_t lane);
