// SPDX-License-Identifier: Apache-2.0
//
// Changes of a lane: taking slots, closing frames into records, cutting the
// stack at an edge. Called by the owner, by the collector once it has won a
// lane's edge word, and by recover on a private copy of the spool.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

#define PPI_HEAD(word) ((word) >> 16)
#define PPI_DEPTH(word) ((uint32_t)((word)&0xffffu))

static inline void ppi_lane_commit(ppi_lane *lane, uint64_t head,
                                   uint32_t depth) {
  // Publishes the record and the stack in one store; pairs with the acquire in
  // ppi_lane_word.
  __atomic_store_n(&lane->commit, head << 16 | depth, __ATOMIC_RELEASE);
}
static inline uint64_t ppi_lane_word(const ppi_lane *lane) {
  return __atomic_load_n(&lane->commit, __ATOMIC_ACQUIRE);
}
// The number of open ranges, also beyond the range of `commit`.
static inline uint32_t ppi_lane_depth(const ppi_lane *lane) {
  return PPI_DEPTH(ppi_lane_word(lane)) + lane->too_deep;
}

// ppi_lane_create takes a spare or a new lane; NULL when there is none left.
ppi_lane *ppi_lane_create(ppi_spool *spool, uint32_t epoch, uint32_t tid);
// ppi_lane_reserve answers the id of a row without a thread; 0: none left.
uint32_t ppi_lane_reserve(ppi_spool *spool);
// ppi_lane_set_name names it, as far as there is room; one at a time.
void ppi_lane_set_name(ppi_spool *spool, ppi_lane *lane, const char *name);
// ppi_lane_get_name answers `naming` of the name it copied, 0 when it is being
// written.
uint64_t ppi_lane_get_name(const ppi_lane *lane, char out[PPI_LANE_NAME]);
// ppi_lane_extend gives the lane one more chunk. Owner only.
bool ppi_lane_extend(ppi_spool *spool, ppi_lane *lane);
// ppi_lane_deepen makes room for PPI_MAX_FRAMES frames; false: there is no
// memory, or they are there. Owner only.
bool ppi_lane_deepen(ppi_spool *spool, ppi_lane *lane);
// ppi_lane_deep_chunk answers the chunk that it took for them, 0: none.
uint32_t ppi_lane_deep_chunk(const ppi_spool *spool, const ppi_lane *lane);
// ppi_lane_put_balance makes frame `depth` one that only keeps the balance;
// what is pushed above it inherits as from the frame below. There is room for
// it.
ppi_frame *ppi_lane_put_balance(ppi_lane *lane, uint32_t depth, uint8_t flags);

// ppi_lane_put writes a record and its extensions from slot *head on and
// advances *head; nothing is published. Extensions that do not fit beside
// `reserve` slots are dropped and counted.
typedef struct ppi_extras {
  const uint64_t *flows;  // beyond the first
  uint32_t num_flows;
  const ppi_work *work;          // NULL: none
  const ppi_cpu_use *cpu;        // NULL: nobody asks for it
  const pprof_numbers *numbers;  // NULL: none
} ppi_extras;
#define PPI_NUMBERS_RECORDS 2u  // that they take at most
// ppi_numbers_record makes the extension record of the first three, or of the
// fourth alone.
static inline void ppi_numbers_record(ppi_record *out,
                                      const pprof_numbers *numbers,
                                      bool is_fourth) {
  const uint64_t *values = numbers->values;
  uint32_t num = is_fourth ? 1 : PPI_MIN(numbers->num, 3u);
  out->start = is_fourth ? values[3] : values[0];
  out->end = values[1];
  out->flow = values[2];
  out->site = 0;
  out->depth = (uint16_t)num;
  out->kind = PPI_RECORD_EXT_NUMBERS;
  out->flags = (uint8_t)numbers->full_name;
}
void ppi_lane_put(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                  const ppi_record *record, const ppi_extras *extras,
                  uint64_t reserve);

// ppi_lane_make_room gets the room that the extensions of all frames above
// `depth` need, as far as there is any; before ppi_lane_close of several.
void ppi_lane_make_room(ppi_spool *spool, ppi_lane *lane, uint32_t depth);

// ppi_lane_close ends all frames above `depth` at `end` ticks, innermost
// first, in one commit: `flag` on each record, `last_flag` on the outermost.
typedef struct ppi_closing {
  uint64_t end;
  uint8_t flag, last_flag;
  const ppi_cpu_use *cpu;  // by the frames' cpu_place; NULL: not known
} ppi_closing;
void ppi_lane_close(const uint8_t *base, ppi_lane *lane, uint32_t depth,
                    ppi_closing closing);

// ppi_edge_append writes an edge before its epoch is published. One at a time.
void ppi_edge_append(ppi_spool_header *header, const ppi_edge *edge);
// ppi_edge_after answers the edge that ended `epoch`, NULL when none did.
const ppi_edge *ppi_edge_after(const ppi_spool_header *header, uint32_t epoch);
// ppi_edge_ended: did one of the first `num_edges` edges end `epoch`?
bool ppi_edge_ended(const ppi_spool_header *header, uint32_t epoch,
                    uint64_t num_edges);
// ppi_edge_was_off: nothing was recorded before one of the edges that are kept.
bool ppi_edge_was_off(const ppi_spool_header *header);
// ppi_edge_into answers the edge that began `epoch`.
const ppi_edge *ppi_edge_into(const ppi_spool_header *header, uint32_t epoch);
// ppi_edge_ticks answers its time, 0 where there is none.
uint64_t ppi_edge_ticks(const ppi_spool_header *header, uint32_t epoch);
// ppi_lane_cut closes a stack of an older epoch at the edge that ended it.
// The caller holds the lane's edge word, or owns a private copy.
void ppi_lane_cut(ppi_spool *spool, ppi_lane *lane, uint32_t epoch);

PPROF_END_C_
