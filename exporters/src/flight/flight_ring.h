// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's ring: blocks go in at its head; where there is no room
// the oldest go, except those that a dump still needs. Nothing here locks: its
// owner does.
#pragma once

#include "file/buffer.h"
#include "log/format/lane_high_water.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

typedef struct ppi_flight_ring {
  ppi_ring *ring;
  ppi_staging *blocks;
  void *heap;  // NULL: it lies in the spool
  // Closed while pinned blocks were in the way: u32 length, group of blocks. Up
  // to `drained` they are in the ring by now.
  ppi_buffer backlog;
  size_t drained;
  ppi_lane_high_water kept;     // of what is in the ring, or was
  ppi_lane_high_water dropped;  // of what was
} ppi_flight_ring;

// Takes the spool's ring, or makes one of `bytes`.
pprof_status ppi_flight_ring_open(ppi_flight_ring *ring,
                                  const ppi_staging *staging, uint64_t bytes,
                                  const char *path);
void ppi_flight_ring_clear(ppi_flight_ring *ring);

// Blocks at `pin`, a position, and behind it stay; UINT64_MAX: none has to.
// Put takes a group of whole blocks, if need be into the backlog; NO_MEMORY.
pprof_status ppi_flight_ring_put(ppi_flight_ring *ring, const uint8_t *blocks,
                                 size_t len, uint64_t pin);
// Moves the backlog into the ring as far as there is room.
void ppi_flight_ring_settle(ppi_flight_ring *ring, uint64_t pin);
// The backlog is as long as the ring at most, and what a call adds.
bool ppi_flight_ring_has_room(const ppi_flight_ring *ring);

// The number of the oldest block, `none` without one.
uint64_t ppi_flight_ring_oldest(const ppi_flight_ring *ring, uint64_t none);
// Positions grow from 0. The block at *at, or where it was overwritten the
// oldest; *at is then behind it. False when there is none yet.
bool ppi_flight_ring_next(const ppi_flight_ring *ring, uint64_t *at,
                          const uint8_t **out_bytes, uint32_t *out_len);

PPROF_END_C_
