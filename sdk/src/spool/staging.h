// SPDX-License-Identifier: Apache-2.0
//
// The staging ring: closed log blocks on their way from the collector's thread
// to the writer's I/O thread. It lies in the spool, so a block in it survives
// the process. One producer, one consumer; recover reads it afterwards.
//
//   header (one page set) | ring of { u32 len, u32 0, u64 number, bytes, pad 8
//   }
//
// A block exists once `head` passed it (release), until `tail` passes it.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_STAGING_PATH_MAX 4096

typedef struct ppi_staging {
  uint32_t claimed;     // a writer uses it
  uint32_t ring_pages;  // to the flight recorder's ring; 0: there is none
  uint64_t size;        // of the ring in bytes, a multiple of 8; atomic
  uint64_t head;        // written by the producer, bytes since the start
  uint64_t tail;        // written by the consumer
  uint64_t num_full;    // producer: how often there was no room
  char log_path[PPI_STAGING_PATH_MAX];  // absolute; "" until claimed
  uint8_t ring[];
} ppi_staging;

// A flight recorder's ring: an area of the spool that begins with this and goes
// on with a staging ring of its own. Its producer also drops the oldest blocks,
// and its log_path is that of the dump. It lies a number of pages behind a log
// writer's staging ring, which gives its place.
#define PPI_RING_PAGE 4096u
// The number of dropped events is stored for a tail. A reader takes the count
// of the current tail, and so is right on either side of its store.
typedef struct ppi_ring {
  uint64_t before_ns;  // what a dump holds before its moment
  struct {
    uint64_t tail, num_overwritten;
  } counted[2];  // zeros at first; the older one is written over
  uint64_t reserved[3];
} ppi_ring;
static inline ppi_ring *ppi_staging_ring(const ppi_staging *staging) {
  uint8_t *at =
      (uint8_t *)staging + (size_t)staging->ring_pages * PPI_RING_PAGE;
  return staging->ring_pages ? (ppi_ring *)(void *)at : NULL;
}
static inline ppi_staging *ppi_ring_blocks(const ppi_ring *ring) {
  return (ppi_staging *)(void *)(ring + 1);
}
// Events that went from the ring to make room. The producer, or recover.
static inline uint64_t ppi_ring_overwritten(const ppi_ring *ring) {
  uint64_t tail = ppi_ring_blocks(ring)->tail;
  return ring->counted[ring->counted[1].tail == tail].num_overwritten;
}

// ppi_staging_init lays a ring out in `memory` of `bytes`.
ppi_staging *ppi_staging_init(void *memory, uint64_t bytes);
// ppi_staging_claim makes the caller the one producer and stores the absolute
// path of its log. False when another writer has it.
bool ppi_staging_claim(ppi_staging *staging, const char *log_path);

// Producer. Put copies blocks in and publishes all of them by one store, so
// that after a kill all of them exist or none. False, with nothing changed,
// when they do not all fit now.
typedef struct ppi_staging_block {
  const void *bytes;
  uint32_t len;
  uint64_t number;
} ppi_staging_block;
bool ppi_staging_put(ppi_staging *staging, const ppi_staging_block *blocks,
                     size_t num_blocks);
// ppi_staging_double makes the ring twice as long, in memory that lies behind
// it. False, with nothing changed, while the content wraps or would move; every
// second lap allows it.
bool ppi_staging_double(ppi_staging *staging);

// Consumer. Peek answers false when the ring is empty.
bool ppi_staging_peek(const ppi_staging *staging, const void **out_bytes,
                      uint32_t *out_len, uint64_t *out_number);
void ppi_staging_release(ppi_staging *staging);
// ppi_staging_after answers the tail that a release would leave.
uint64_t ppi_staging_after(const ppi_staging *staging);

// Recover: walks what is between tail and head without changing anything.
// *cursor starts at 0. Lengths are checked against the ring, so a damaged one
// ends the walk.
bool ppi_staging_walk(const ppi_staging *staging, uint64_t *cursor,
                      const void **out_bytes, uint32_t *out_len,
                      uint64_t *out_number);

PPROF_END_C_
