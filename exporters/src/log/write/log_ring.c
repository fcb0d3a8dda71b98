// SPDX-License-Identifier: Apache-2.0
//
// Passes closed blocks from the log's sink to its I/O thread.
#include "log/write/log_ring.h"

#include <string.h>

#include "base/mem.h"
#include "log/format/log_block.h"

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
  ppi_log_kept_restart(&ring->kept);
  ring->num_staged = 0;
}

void ppi_log_ring_clear(ppi_log_ring *ring) {
  ppi_buffer_clear(&ring->backlog);
  ppi_free(ring->heap);
  ppi_log_kept_clear(&ring->kept);
}

// A block has reached the ring.
static bool note_block(ppi_log_ring *ring, const uint8_t *block,
                       const ppi_log_header *header) {
  if (header->type != PPI_LOG_EVENTS) return true;
  for (uint32_t i = 0; i < header->num_runs; i++) {
    ppi_log_run run;
    ppi_log_run_load(block + PPI_LOG_HEADER_SIZE + i * PPI_LOG_RUN_SIZE, &run);
    bool noted =
        ring->in_spool
            ? ppi_log_kept_set(&ring->kept, run.lane, run.end_seq)
            : ppi_log_kept_promise(&ring->kept, &run, ring->num_staged);
    if (!noted) return false;
  }
  return true;
}

static size_t split_group(const uint8_t *bytes, size_t len,
                          ppi_staging_block *out) {
  size_t num = 0;
  ppi_log_header header;
  while (len > 0 && num < PPI_LOG_MAX_GROUP &&
         ppi_log_header_load(bytes, &header)) {
    size_t size = ppi_log_block_size(&header);
    out[num++] = (ppi_staging_block){bytes, (uint32_t)size, header.number};
    bytes += size;
    len -= size;
  }
  return num;
}

// False: the ring has no room for it now.
static bool stage_group(ppi_log_ring *ring, ppi_log_io *io,
                        const uint8_t *bytes, size_t len,
                        pprof_status *status) {
  ppi_staging_block blocks[PPI_LOG_MAX_GROUP] = {{0}};
  size_t num = split_group(bytes, len, blocks);
  if (!ppi_staging_put(ring->staging, blocks, num)) return false;
  for (size_t i = 0; i < num; i++) {
    ppi_log_header header;
    ppi_log_header_load(blocks[i].bytes, &header);
    if (!note_block(ring, blocks[i].bytes, &header))
      *status = PPROF_STATUS_NO_MEMORY;
    ring->num_staged++;
  }
  ppi_log_io_wake(io);
  return true;
}

pprof_status ppi_log_ring_put(ppi_log_ring *ring, ppi_log_io *io,
                              const uint8_t *blocks, size_t len) {
  ppi_buffer *backlog = &ring->backlog;
  pprof_status status = PPROF_STATUS_OK;
  if (backlog->len == 0 && stage_group(ring, io, blocks, len, &status))
    return status;
  uint8_t prefix[4];
  ppi_store32(prefix, (uint32_t)len);
  ppi_buffer_bytes(backlog, prefix, sizeof prefix);
  ppi_buffer_bytes(backlog, blocks, len);
  return backlog->failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

pprof_status ppi_log_ring_drain(ppi_log_ring *ring, ppi_log_io *io) {
  ppi_buffer *backlog = &ring->backlog;
  pprof_status status = PPROF_STATUS_OK;
  while (ring->drained < backlog->len) {
    const uint8_t *group = backlog->data + ring->drained;
    size_t len = ppi_load32(group);
    if (!stage_group(ring, io, group + 4, len, &status)) break;
    ring->drained += 4 + len;
  }
  // Each byte moves about once.
  if (ring->drained >= backlog->len - ring->drained) ppi_log_ring_backlog(ring);
  return status;
}

const ppi_buffer *ppi_log_ring_backlog(ppi_log_ring *ring) {
  ppi_buffer *backlog = &ring->backlog;
  if (ring->drained == 0) return backlog;
  backlog->len -= ring->drained;
  memmove(backlog->data, backlog->data + ring->drained, backlog->len);
  ring->drained = 0;
  return backlog;
}

bool ppi_log_ring_is_behind(const ppi_log_ring *ring) {
  return ring->backlog.len > 0;
}

bool ppi_log_ring_has_room(const ppi_log_ring *ring) {
  return ring->backlog.len < BACKLOG_RINGS * ring->staging->size;
}

uint64_t ppi_log_ring_kept(ppi_log_ring *ring, ppi_log_io *io, uint32_t lane) {
  if (io && ppi_log_kept_waits(&ring->kept))
    ppi_log_kept_written(&ring->kept, ppi_log_io_look(io).num_written);
  return ppi_log_kept_end(&ring->kept, lane);
}
