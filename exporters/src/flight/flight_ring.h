// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's ring. Blocks go in at its head; without room the oldest
// are dropped, except those that a dump still needs. Nothing here locks: the
// owner does.
#pragma once

#include "log/format/backlog.h"
#include "log/format/lane_high_water.h"
#include "spool/staging.h"

typedef struct ppi_flight_ring {
  ppi_ring *ring;
  ppi_staging *blocks;
  void *heap;                   // NULL: it lies in the spool
  ppi_backlog backlog;          // closed while pinned blocks were in the way
  ppi_lane_high_water kept;     // of blocks in the ring and dropped ones
  ppi_lane_high_water dropped;  // of dropped blocks
} ppi_flight_ring;

// Takes the spool's ring, or makes one of `bytes`.
pprof_status ppi_flight_ring_open(ppi_flight_ring *ring,
                                  const ppi_staging *staging, uint64_t bytes,
                                  const char *path);
void ppi_flight_ring_clear(ppi_flight_ring *ring);

// Blocks from the position `pin` on stay; UINT64_MAX: none has to. Put takes a
// group of whole blocks, if necessary into the backlog; NO_MEMORY.
pprof_status ppi_flight_ring_put(ppi_flight_ring *ring, const uint8_t *blocks,
                                 size_t len, uint64_t pin);
// Moves the backlog into the ring as far as there is room.
void ppi_flight_ring_settle(ppi_flight_ring *ring, uint64_t pin);
// False: the backlog is as long as the ring. One call may exceed that.
bool ppi_flight_ring_has_room(const ppi_flight_ring *ring);

// The number of the oldest block, `none` without one.
uint64_t ppi_flight_ring_oldest(const ppi_flight_ring *ring, uint64_t none);
// Positions grow from 0. Answers the block at *at, or the oldest one if that is
// overwritten, and moves *at behind it. False when there is none yet.
bool ppi_flight_ring_next(const ppi_flight_ring *ring, uint64_t *at,
                          const uint8_t **out_bytes, uint32_t *out_len);
