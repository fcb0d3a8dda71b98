// SPDX-License-Identifier: Apache-2.0
//
// Manages the chunk pool: a free list, then chunks that were never taken.
#include "spool/chunks.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The chunk may have a new owner by now, and the link a record: then the swap
// fails. A race by design, so the thread sanitizer is off.
__attribute__((no_sanitize("thread"))) static uint32_t read_link(
    const uint32_t *link) {
  return __atomic_load_n(link, __ATOMIC_RELAXED);
}

// The free list's head carries a generation, so that a chunk taken and given
// back between our load and our swap is noticed.
static uint32_t pop_free(ppi_spool *spool) {
  uint64_t *list = &spool->header->free_list;
  uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while ((uint32_t)head != 0) {
    uint32_t chunk = (uint32_t)head;
    uint64_t next =
        ((head >> 32) + 1) << 32 | read_link(ppi_spool_chunk(spool, chunk));
    if (__atomic_compare_exchange_n(list, &head, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      __atomic_fetch_sub(&spool->header->num_free, 1, __ATOMIC_RELAXED);
      return chunk;
    }
  }
  return 0;
}

static uint32_t take_untouched(ppi_spool_header *header) {
  uint32_t *untouched = &header->untouched;
  uint32_t next = __atomic_load_n(untouched, __ATOMIC_RELAXED);
  uint32_t end = ppi_spool_num_allocated(header);
  while (next < end)
    if (__atomic_compare_exchange_n(untouched, &next, next + 1, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return next;
  return 0;
}

uint32_t ppi_chunk_take(ppi_spool *spool) {
  uint32_t chunk = pop_free(spool);
  if (!chunk) chunk = take_untouched(spool->header);
  while (!chunk && ppi_spool_add_chunk(spool))
    chunk = take_untouched(spool->header);
  return chunk;
}

void ppi_chunk_give(ppi_spool *spool, uint32_t chunk) {
  uint64_t *list = &spool->header->free_list;
  uint32_t *link = ppi_spool_chunk(spool, chunk);
  uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
  uint64_t next;
  do {
    __atomic_store_n(link, (uint32_t)head, __ATOMIC_RELAXED);
    next = ((head >> 32) + 1) << 32 | chunk;
  } while (!__atomic_compare_exchange_n(list, &head, next, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  __atomic_fetch_add(&spool->header->num_free, 1, __ATOMIC_RELAXED);
}

void ppi_spool_touch_ahead(ppi_spool *spool, uint32_t chunks) {
  uint32_t from = __atomic_load_n(&spool->header->untouched, __ATOMIC_RELAXED);
  uint32_t to = PPI_MIN(from + chunks, ppi_spool_num_allocated(spool->header));
  from = PPI_MAX(from, spool->chunks_touched);
  if (from >= to) return;
  spool->chunks_touched = to;
  // With an older kernel, markers take the page faults.
  madvise(ppi_spool_chunk(spool, from), (uint64_t)(to - from) * PPI_CHUNK_SIZE,
          MADV_POPULATE_WRITE);
}

// Expected chunks count, too; refused ones do not.
static uint32_t end_of_pool(const ppi_spool *spool) {
  uint32_t num = ppi_spool_num_allocated(spool->header);
  uint32_t more = __atomic_load_n(&spool->seen_allocated, __ATOMIC_RELAXED) +
                  __atomic_load_n(&spool->room, __ATOMIC_RELAXED);
  bool is_all = __atomic_load_n(&spool->refused, __ATOMIC_RELAXED);
  return is_all ? num : PPI_MAX(num, more);
}

uint32_t ppi_spool_chunks_all(const ppi_spool *spool) {
  return end_of_pool(spool) - spool->header->pool_first;
}

uint32_t ppi_spool_chunks_free(const ppi_spool *spool) {
  uint32_t end = end_of_pool(spool);
  uint32_t used = __atomic_load_n(&spool->header->untouched, __ATOMIC_RELAXED);
  return end - PPI_MIN(used, end) +
         __atomic_load_n(&spool->header->num_free, __ATOMIC_RELAXED);
}
