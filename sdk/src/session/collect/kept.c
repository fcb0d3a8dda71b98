// SPDX-License-Identifier: Apache-2.0
//
// Frees the memory of records, ranges and lanes that sinks have kept.
#include "session/collect/kept.h"

#include "deliver/totals.h"
#include "device/graph.h"
#include "kernels/launch.h"
#include "mark/thread_lane.h"
#include "session/collect/cross_thread.h"
#include "session/state/edges.h"
#include "spool/chunks.h"

// Kept records are free; without a keeping sink, delivered ones are. In
// numbers, as sinks count.
static uint64_t kept_of(pprof_session *session, uint32_t lane,
                        uint64_t delivered_end, uint64_t next) {
  uint64_t seq = 0;
  pprof_sink *sink = &session->tee.base;
  if (!sink->kept(sink, lane, &seq) || seq >= delivered_end) return next;
  return seq;
}

// Records outside all windows are in no log; once their memory is free, only
// this counts them. It is stored before `kept`, which makes it count: a kill on
// either side of that store finds each record once.
static void count_excluded(pprof_session *session, ppi_lane *lane,
                           uint64_t kept) {
  const ppi_drain *drain = &session->drain;
  uint64_t num = ppi_lane_gone(lane);
  bool newer = lane->gone[1].kept == lane->kept;
  if (lane->id < drain->tally.num_lanes &&
      drain->tally.lanes[lane->id][PPI_TOTAL_EXCLUDED] > 0)
    num += ppi_drain_excluded(drain, lane, lane->kept, kept);
  lane->gone[!newer].excluded = num;
  __atomic_store_n(&lane->gone[!newer].kept, kept, __ATOMIC_RELEASE);
}

// The first of its chunks is the lane itself.
static void give_chunk(ppi_spool *spool, const ppi_lane *lane, uint64_t k) {
  if (k > 0)
    ppi_chunk_give(spool,
                   lane->directory[k % PPI_LANE_CHUNKS] / PPI_UNITS_PER_CHUNK);
}

static void free_chunks(ppi_spool *spool, ppi_lane *lane, uint64_t kept) {
  __atomic_store_n(&lane->kept, kept, __ATOMIC_RELEASE);
  uint64_t freed = lane->freed_chunks;
  while ((freed + 1) * PPI_SLOTS_PER_CHUNK <= kept) {
    give_chunk(spool, lane, freed);
    freed++;
    // Pairs with the acquire in ppi_lane_extend.
    __atomic_store_n(&lane->freed_chunks, freed, __ATOMIC_RELEASE);
  }
}

// One store makes the sum valid and the lane's own counters invalid: a kill on
// either side finds each count once.
static void take_counters(ppi_spool_header *header, const ppi_lane *lane) {
  uint64_t old_copy = header->retired_word & 1;
  uint64_t *sum = header->retired[1 - old_copy];
  memcpy(sum, header->retired[old_copy], sizeof header->retired[0]);
  ppi_totals_count_lane(lane, sum);
  sum[PPI_TOTAL_EXCLUDED] += ppi_lane_gone(lane);
  __atomic_store_n(&header->retired_word,
                   (uint64_t)lane->serial << 1 | (1 - old_copy),
                   __ATOMIC_RELEASE);
}

// The lane of a thread that left becomes a spare once its records are kept; its
// counters move to the totals.
static void retire(pprof_session *session, ppi_lane *lane) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  ppi_spool_header *header = spool->header;
  ppi_session_keep_error(session,
                         ppi_totals_add_lane(&session->drain.tally, lane));
  take_counters(header, lane);
  uint64_t end = lane->capacity / PPI_SLOTS_PER_CHUNK;
  for (uint64_t k = lane->freed_chunks; k < end; k++)
    give_chunk(spool, lane, k);
  uint32_t deep = ppi_lane_deep_chunk(spool, lane);
  if (deep) ppi_chunk_give(spool, deep);
  __atomic_store_n(&lane->state, PPI_LANE_FREE, __ATOMIC_RELEASE);
}

// The slot below which the lane's records are kept.
static uint64_t kept_slot(pprof_session *session, const ppi_lane *lane,
                          const ppi_cursor *cursor) {
  uint64_t kept = kept_of(session, lane->id, cursor->delivered_end,
                          ppi_lane_number(lane, cursor->next));
  // The lane's recorded state may belong to the previous thread.
  kept = PPI_MAX(kept, lane->first_number);
  return kept - lane->first_number + PPI_FIRST_SLOT;
}

static void free_lanes(pprof_session *session) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (!lane) continue;
    uint64_t kept = kept_slot(session, lane, &session->collect.cursors[i]);
    if (kept <= lane->kept) continue;
    count_excluded(session, lane, kept);
    free_chunks(spool, lane, kept);
  }
}

// A lane by its place among the header's.
typedef struct lane_set {
  uint64_t bits[PPI_MAX_LANES / 64];
} lane_set;

static void add_lane(lane_set *set, uint32_t id) {
  if (id && id <= PPI_MAX_LANES)
    set->bits[(id - 1) / 64] |= 1ull << (id - 1) % 64;
}

static bool has_lane(const lane_set *set, uint32_t place) {
  return set->bits[place / 64] >> place % 64 & 1;
}

static void add_table(const ppi_spool *spool, const ppi_table *table,
                      lane_set *set) {
  uint32_t num = ppi_table_num_slots(table);
  for (uint32_t i = 0; i < num; i++)
    if (PPI_STATE_OF(__atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE)) !=
        PPI_SLOT_FREE)
      add_lane(set, ppi_table_slot(spool->base, table, i)->lane);
}

static void add_launch(void *set, uint32_t lane) {
  add_lane(set, lane);
}

// Lists the lanes that pending ranges of tables, graphs and kernel launches
// name, or ranges that only the spool keeps. Such a lane stays its thread's
// until these are kept.
static void list_named(const ppi_spool *spool, lane_set *out) {
  *out = (lane_set){{0}};
  add_table(spool, ppi_recorder_in_force.ranges, out);
  ppi_launches_lanes(add_launch, out);
  for (pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->session) continue;
    add_table(spool, d->session->table, out);
    for (uint32_t i = 0; i < d->session->graphs->num_ranges; i++)
      add_lane(out, d->session->graphs->ranges[i].lane);
  }
}

// Retires the lanes of threads that have left.
static void retire_lanes(pprof_session *session) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  static lane_set named;  // one collector per process
  bool is_listed = false;
  session->collect.num_left = 0;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (!lane ||
        __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE) != PPI_LANE_LEFT)
      continue;
    uint64_t word = ppi_lane_word(lane);
    if (PPI_DEPTH(word) || PPI_HEAD(word) != lane->kept ||
        session->collect.cursors[i].next != lane->kept) {
      session->collect.num_left++;
      continue;
    }
    if (!is_listed) list_named(spool, &named);
    is_listed = true;
    if (!has_lane(&named, i) && !ppi_thread_is_naming(lane))
      retire(session, lane);
  }
}

void ppi_collector_free_kept(pprof_session *session) {
  free_lanes(session);
  ppi_table *table = ppi_recorder_in_force.ranges;
  uint64_t kept =
      kept_of(session, table->lane, table->next_seq, table->next_seq);
  ppi_cross_thread_free(session, kept);
  for (pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->session) continue;
    uint64_t end = d->session->table->next_seq;
    ppi_resolve_free(d->session,
                     kept_of(session, d->session->table->lane, end, end));
  }
  retire_lanes(session);
}
