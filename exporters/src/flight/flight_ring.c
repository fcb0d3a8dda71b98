// SPDX-License-Identifier: Apache-2.0
//
// Writes blocks into a staging ring and drops the oldest ones: one thread
// produces and consumes. A kill at any moment leaves whole blocks between tail
// and head, as the tail moves before its blocks are overwritten.
#include "flight/flight_ring.h"

#include <sys/mman.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "session/collect/spool_counts.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MIN_BYTES = 256 * 1024, DEFAULT_BYTES = 16 * 1024 * 1024 };

static bool take_spool_ring(ppi_flight_ring *ring, const ppi_staging *staging,
                            const char *path) {
  ppi_ring *found = staging ? ppi_staging_ring(staging) : NULL;
  if (!found || !ppi_staging_claim(ppi_ring_blocks(found), path)) return false;
  ring->ring = found;
  // The resident memory of the process is then constant from its start on. On
  // older kernels pages are made when first used.
  madvise(found, sizeof *found + ppi_ring_blocks(found)->size,
          MADV_POPULATE_WRITE);
  return true;
}

pprof_status ppi_flight_ring_open(ppi_flight_ring *ring,
                                  const ppi_staging *staging, uint64_t bytes,
                                  const char *path) {
  if (!take_spool_ring(ring, staging, path)) {
    if (bytes == 0) bytes = DEFAULT_BYTES;
    bytes = PPI_MAX(ppi_memory_share(bytes), (uint64_t)MIN_BYTES);
    ring->heap = ppi_alloc(bytes);
    if (!ring->heap) return PPROF_STATUS_NO_MEMORY;
    ring->ring = ring->heap;
    ppi_staging_init(ring->ring + 1, bytes - sizeof *ring->ring);
  }
  ring->blocks = ppi_ring_blocks(ring->ring);
  return PPROF_STATUS_OK;
}

void ppi_flight_ring_clear(ppi_flight_ring *ring) {
  ppi_buffer_clear(&ring->backlog.groups);
  ppi_lane_high_water_clear(&ring->kept);
  ppi_lane_high_water_clear(&ring->dropped);
  ppi_free(ring->heap);
  *ring = (ppi_flight_ring){0};
}

// Called before the tail moves to `tail`, so that a kill finds the count for
// either tail.
static void count_for(ppi_ring *ring, uint64_t tail, uint64_t num) {
  bool newer = ring->counted[1].tail == ppi_ring_blocks(ring)->tail;
  ring->counted[!newer].num_overwritten = num;
  __atomic_store_n(&ring->counted[!newer].tail, tail, __ATOMIC_RELEASE);
}

// Lanes may still have the records of a dropped block. `recover` must count
// them once, as overwritten; out of memory, it counts them twice.
static void note_dropped(ppi_flight_ring *ring, const uint8_t *bytes) {
  if (ring->heap ||
      ppi_lane_high_water_raise_block(&ring->dropped, bytes) != PPROF_STATUS_OK)
    return;
  ppi_spool_note_dropped(ring->dropped.items, ring->dropped.num);
}

static bool drop_oldest(ppi_flight_ring *ring, uint64_t pin) {
  const void *bytes;
  uint32_t len;
  uint64_t number;
  ppi_log_header header;
  if (ring->blocks->tail >= pin ||
      !ppi_staging_peek(ring->blocks, &bytes, &len, &number))
    return false;
  uint64_t num = ppi_ring_overwritten(ring->ring);
  if (ppi_log_header_load(bytes, &header) && header.type == PPI_LOG_EVENTS) {
    num += header.num_events;
    note_dropped(ring, bytes);
  }
  count_for(ring->ring, ppi_staging_after(ring->blocks), num);
  ppi_staging_release(ring->blocks);
  return true;
}

uint64_t ppi_flight_ring_oldest(const ppi_flight_ring *ring, uint64_t none) {
  const void *bytes;
  uint32_t len;
  uint64_t number;
  return ppi_staging_peek(ring->blocks, &bytes, &len, &number) ? number : none;
}

typedef struct pinned_ring {
  ppi_flight_ring *ring;
  uint64_t pin;
} pinned_ring;

static bool stage(void *user, const uint8_t *blocks, size_t len) {
  pinned_ring *to = user;
  ppi_staging_block group[PPI_LOG_MAX_GROUP] = {{0}};
  size_t num = ppi_backlog_split(blocks, len, group);
  while (!ppi_staging_put(to->ring->blocks, group, num))
    if (!drop_oldest(to->ring, to->pin)) return false;
  // Out of memory: some records that are kept count as not kept.
  for (size_t i = 0; i < num; i++)
    ppi_lane_high_water_raise_block(&to->ring->kept, group[i].bytes);
  return true;
}

pprof_status ppi_flight_ring_put(ppi_flight_ring *ring, const uint8_t *blocks,
                                 size_t len, uint64_t pin) {
  pinned_ring to = {ring, pin};
  return ppi_backlog_put(&ring->backlog, stage, &to, blocks, len);
}

void ppi_flight_ring_settle(ppi_flight_ring *ring, uint64_t pin) {
  pinned_ring to = {ring, pin};
  ppi_backlog_drain(&ring->backlog, stage, &to);
}

bool ppi_flight_ring_has_room(const ppi_flight_ring *ring) {
  return ring->backlog.groups.len < ring->blocks->size;
}

bool ppi_flight_ring_next(const ppi_flight_ring *ring, uint64_t *at,
                          const uint8_t **out_bytes, uint32_t *out_len) {
  uint64_t tail = ring->blocks->tail;
  uint64_t cursor = *at > tail ? *at - tail : 0;
  const void *bytes;
  uint64_t number;
  if (!ppi_staging_walk(ring->blocks, &cursor, &bytes, out_len, &number))
    return false;
  *at = tail + cursor;
  *out_bytes = bytes;
  return true;
}
