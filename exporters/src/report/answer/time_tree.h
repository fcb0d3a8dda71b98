// SPDX-License-Identifier: Apache-2.0
//
// A tree over lanes that finds the lane with the last time.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// Times + 1; 0: none.
typedef struct ppi_time_node {
  uint64_t time;
  uint64_t who;  // lane << 32; of begins | the entry, or PPI_TIME_WAITING
} ppi_time_node;

// The lane's range waits: another lane may own the time.
#define PPI_TIME_WAITING UINT32_MAX

static inline size_t ppi_time_lane(const ppi_time_node *at) {
  return at->who >> 32;
}

static inline unsigned __int128 ppi_time_order(uint64_t time, uint64_t who) {
  return (unsigned __int128)time << 64 | who;
}

// Of equal times the later lane wins: its range counts as the latest one. The
// winner is hard to predict, so no branch depends on it. On the way up, no node
// waits for the node just stored.
static inline void ppi_time_set(ppi_time_node *tree, size_t at, uint64_t time,
                                uint64_t who) {
  tree[at] = (ppi_time_node){time, who};
  for (; at > 1; at /= 2) {
    const ppi_time_node *other = &tree[at ^ 1];
    uint64_t loses = 0 - (uint64_t)(ppi_time_order(time, who) <
                                    ppi_time_order(other->time, other->who));
    time ^= (time ^ other->time) & loses;
    who ^= (who ^ other->who) & loses;
    tree[at / 2] = (ppi_time_node){time, who};
  }
}

PPROF_END_C_
