// SPDX-License-Identifier: Apache-2.0
//
// Passes closed blocks from the log's sink to its I/O thread.
#include "log/write/log_ring.h"

enum {
  HEAP_BYTES = 1024 * 1024,
  // A shorter ring in the spool cannot contain enough blocks.
  MIN_BYTES = 96 * 1024,
  BACKLOG_RINGS = 8
};

bool ppi_log_ring_open(ppi_log_ring *ring, ppi_staging *spool,
                       const char *part_path) {
  ring->in_spool =
      spool && spool->size >= MIN_BYTES && ppi_staging_claim(spool, part_path);
  if (ring->in_spool) {
    ring->staging = spool;
    return true;
  }
  uint64_t bytes = sizeof(ppi_staging) + HEAP_BYTES;
  if (!ring->heap) ring->heap = ppi_alloc(bytes);
  if (!ring->heap) return false;
  ring->staging = ppi_staging_init(ring->heap, bytes);
  return true;
}

void ppi_log_ring_restart(ppi_log_ring *ring) {
  ppi_lane_high_water_clear(&ring->kept);
  ring->num_staged = 0;
}

void ppi_log_ring_clear(ppi_log_ring *ring) {
  ppi_buffer_clear(&ring->backlog.groups);
  ppi_free(ring->heap);
  ppi_lane_high_water_clear(&ring->kept);
}

static bool stage(void *user, const uint8_t *bytes, size_t len) {
  ppi_log_ring *ring = user;
  ppi_staging_block blocks[PPI_LOG_MAX_GROUP] = {{0}};
  size_t num = ppi_backlog_split(bytes, len, blocks);
  if (!ppi_staging_put(ring->staging, blocks, num)) return false;
  ring->num_staged += num;
  // Out of memory: some records that are kept count as not kept.
  for (size_t i = 0; ring->in_spool && i < num; i++)
    ppi_lane_high_water_raise_block(&ring->kept, blocks[i].bytes);
  return true;
}

pprof_status ppi_log_ring_put(ppi_log_ring *ring, ppi_log_io *io,
                              const uint8_t *blocks, size_t len) {
  pprof_status status =
      ppi_backlog_put(&ring->backlog, stage, ring, blocks, len);
  ppi_log_io_wake(io);
  return status;
}

void ppi_log_ring_drain(ppi_log_ring *ring, ppi_log_io *io) {
  uint64_t before = ring->num_staged;
  ppi_backlog_drain(&ring->backlog, stage, ring);
  if (ring->num_staged > before) ppi_log_io_wake(io);
}

bool ppi_log_ring_is_behind(const ppi_log_ring *ring) {
  return ring->backlog.groups.len > 0;
}

bool ppi_log_ring_has_room(const ppi_log_ring *ring) {
  return ring->backlog.groups.len < BACKLOG_RINGS * ring->staging->size;
}

uint64_t ppi_log_ring_kept(const ppi_log_ring *ring, ppi_log_io *io,
                           uint32_t lane) {
  if (ring->in_spool) return ppi_lane_high_water_of(&ring->kept, lane);
  return io ? ppi_log_io_kept(io, lane) : 0;
}
