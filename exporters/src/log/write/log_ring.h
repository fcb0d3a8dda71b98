// SPDX-License-Identifier: Apache-2.0
//
// A log's way from closed blocks to its I/O thread: the staging ring, what is
// put by while that is full, and up to which record of each lane the blocks
// there keep what they were given. Called by the log writer on the collector's
// thread.
#pragma once

#include "log/write/log_io.h"
#include "log/write/log_kept.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

typedef struct ppi_log_ring {
  ppi_staging *staging;
  void *heap;     // memory of a ring that is not in the spool
  bool in_spool;  // what is in the ring outlives the process
  // Closed while the ring was full: u32 length, blocks. Up to `drained` they
  // are in the ring by now.
  ppi_buffer backlog;
  size_t drained;
  uint64_t num_staged;  // blocks
  ppi_log_kept kept;
} ppi_log_ring;

// Takes `spool`, where that is free and long enough, for the log at
// `part_path`, else a ring in memory. False when out of memory.
bool ppi_log_ring_open(ppi_log_ring *ring, ppi_staging *spool,
                       const char *part_path);
void ppi_log_ring_restart(ppi_log_ring *ring);  // a further run
void ppi_log_ring_clear(ppi_log_ring *ring);

// Put takes whole blocks, whether there is room or not; drain moves what was
// put by as room comes. Errors: NO_MEMORY.
pprof_status ppi_log_ring_put(ppi_log_ring *ring, ppi_log_io *io,
                              const uint8_t *blocks, size_t len);
pprof_status ppi_log_ring_drain(ppi_log_ring *ring, ppi_log_io *io);
// Room to put by: in the spool, of which the ring is an eighth, lanes hold what
// is not in the ring yet, so no more than this comes together where it is the
// session's log.
bool ppi_log_ring_has_room(const ppi_log_ring *ring);
bool ppi_log_ring_is_behind(const ppi_log_ring *ring);
// The backlog, without what is in the ring.
const ppi_buffer *ppi_log_ring_backlog(ppi_log_ring *ring);
// `io` may be NULL.
uint64_t ppi_log_ring_kept(ppi_log_ring *ring, ppi_log_io *io, uint32_t lane);

PPROF_END_C_
