// SPDX-License-Identifier: Apache-2.0
//
// The staging ring: closed log blocks on their way from the collector's thread
// to the writer's I/O thread. It lies in the spool, so a block in it survives
// the process. One producer, one consumer; recover reads it afterwards.
//
//   header (one page set) | ring of { u32 len, u32 0, u64 number, bytes, pad 8
//   }
//
// A block is there once `head` passed it (release), gone once `tail` did.
#ifndef PPI_STAGING_H_
#define PPI_STAGING_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_STAGING_PATH_MAX 4096

typedef struct ppi_staging {
  uint32_t claimed;  // a writer uses it
  uint32_t reserved;
  uint64_t size;  // of the ring in bytes, a multiple of 8
  uint64_t head;  // written by the producer, bytes since the start
  uint64_t tail;  // written by the consumer
  char log_path[PPI_STAGING_PATH_MAX];  // absolute; "" until claimed
  uint8_t ring[];
} ppi_staging;

// ppi_staging_init lays a ring out in `memory` of `bytes`.
ppi_staging *ppi_staging_init(void *memory, uint64_t bytes);
// ppi_staging_claim makes the caller the one producer and stores the absolute
// path of its log. False when another writer has it.
bool ppi_staging_claim(ppi_staging *staging, const char *log_path);

// Producer. Reserve answers NULL when there is no room for `len` bytes now;
// commit publishes the block reserved last, `len` bytes of it.
void *ppi_staging_reserve(ppi_staging *staging, uint32_t len);
void ppi_staging_commit(ppi_staging *staging, uint32_t len, uint64_t number);

// Put copies blocks in and publishes all of them by one store, so that after a
// kill either each of them is there or none. False, with nothing changed, when
// they do not all fit now.
typedef struct ppi_staging_block {
  const void *bytes;
  uint32_t len;
  uint64_t number;
} ppi_staging_block;
bool ppi_staging_put(ppi_staging *staging, const ppi_staging_block *blocks,
                     size_t num_blocks);
uint64_t ppi_staging_free(const ppi_staging *staging);  // bytes, upper bound

// Consumer. Peek answers false when the ring is empty.
bool ppi_staging_peek(const ppi_staging *staging, const void **out_bytes,
                      uint32_t *out_len, uint64_t *out_number);
void ppi_staging_release(ppi_staging *staging);

// Recover: walks what is between tail and head without changing anything.
// *cursor starts at 0. Lengths are checked against the ring, so a damaged one
// ends the walk.
bool ppi_staging_walk(const ppi_staging *staging, uint64_t *cursor,
                      const void **out_bytes, uint32_t *out_len,
                      uint64_t *out_number);

#ifdef __cplusplus
}
#endif

#endif  // PPI_STAGING_H_
