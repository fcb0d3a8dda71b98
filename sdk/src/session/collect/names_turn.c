// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back. A name that left the table is unused once
//   1. each thread was in no marker since, so that none is about to keep it,
//   2. it was taken out of the threads' caches,
//   3. each thread was in no marker once more;
//   4. no frame, slot or graph has it (none can get it after step 3);
//   5. the records that there are by then are kept, and the flight recorder's
//      ring has dropped them: a reader of the spool after a kill does not need
//      the name.
#include "session/collect/names_turn.h"

#include "device/graph.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/mark_name.h"
#include "mark/site_id.h"

// The number of looks at a thread inside a marker in one cycle.
#define LOOKS 100

static ppi_names *names_now(void) {
  return ppi_recorder_in_force.names;
}

static bool is_outside(const ppi_thread *thread) {
  for (int i = 0; i < LOOKS; i++)
    if (!__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE)) return true;
  return false;
}

// Whether all threads were outside since the look with that number began.
static bool all_were_outside(uint32_t seen) {
  bool all = true;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next) {
    if (thread->names.seen == seen) continue;
    if (is_outside(thread))
      thread->names.seen = seen;
    else
      all = false;
  }
  return all;
}

// Threads keep the number of the last check over sessions, so no number repeats
// soon.
static void begin_look(ppi_names_turn_state *turn, ppi_names_phase phase) {
  static uint32_t num_looks;  // one collector per process
  turn->phase = phase;
  turn->seen = ++num_looks;
  ppi_thread_barrier();
}

static void hold(uint32_t site) {
  ppi_names_hold(names_now(), site & PPI_SITE_NUMBER);
}

// A frame that has the name had it when the check began, and stays in place
// until its range ends. Other frames may change meanwhile: a wrong id read
// there only stays in use for longer. The thread sanitizer is off, as with
// checkpoints.
__attribute__((no_sanitize("thread"))) static void hold_frames(
    const ppi_lane *lane) {
  uint32_t num = ppi_lane_num_open(lane, ppi_lane_word(lane));
  const ppi_frame *frames = ppi_lane_frames_now(lane);
  for (uint32_t i = 0; i < num; i++) hold(frames[i].site);
}

static void hold_slots(const ppi_table *table) {
  const uint8_t *base = ppi_recorder_in_force.spool.base;
  uint32_t num = ppi_table_num_slots(table);
  for (uint32_t i = 0; i < num; i++)
    if (PPI_STATE_OF(__atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE)) !=
        PPI_SLOT_FREE)
      hold(ppi_table_slot(base, table, i)->site);
}

static void hold_finished(const ppi_spool *spool) {
  for (uint32_t i = 0; i < PPI_FINISHED_STREAMS; i++)
    hold(spool->header->finished[i].site);
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    if (lane) hold(lane->finished.site);
  }
}

// Frames come first: a slot may be begun with the site of an open frame, and
// a graph has those of slots.
static void hold_all(ppi_collect *collect) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(collect->cursors, i);
    if (lane) hold_frames(lane);
  }
  hold_slots(ppi_recorder_in_force.ranges);
  for (const pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->session) continue;
    hold_slots(d->session->table);
    for (uint32_t i = 0; i < d->session->graphs->num_ranges; i++)
      hold(d->session->graphs->ranges[i].site);
  }
  hold_finished(spool);
}

// Records that are in the lanes now may have names that leave.
static void await_records(ppi_collect *collect) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(collect->cursors, i);
    if (lane) collect->cursors[i].awaited = PPI_HEAD(ppi_lane_word(lane));
  }
}

// A lane with a new thread by now was empty when that thread got it.
static bool are_kept(ppi_collect *collect) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(collect->cursors, i);
    if (lane && lane->kept < collect->cursors[i].awaited) return false;
  }
  return true;
}

static const ppi_staging *ring_blocks(void) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  const ppi_ring *ring = ppi_staging_ring(ppi_spool_staging(spool));
  return ring ? ppi_ring_blocks(ring) : NULL;
}

bool ppi_names_turn(ppi_collect *collect) {
  ppi_names_turn_state *turn = &collect->names_turn;
  const ppi_staging *ring = ring_blocks();
  ppi_names_new_round(names_now());
  if (turn->phase == PPI_NAMES_REST && ppi_names_are_crowded(names_now()) &&
      ppi_names_retire(names_now()))
    begin_look(turn, PPI_NAMES_LEAVE);
  if (turn->phase == PPI_NAMES_LEAVE && all_were_outside(turn->seen)) {
    for (ppi_thread *at = ppi_thread_list(); at; at = at->next)
      ppi_name_cache_drop(&at->names, names_now());
    begin_look(turn, PPI_NAMES_DROPPED);
  }
  if (turn->phase == PPI_NAMES_DROPPED && all_were_outside(turn->seen)) {
    hold_all(collect);
    await_records(collect);
    turn->phase = PPI_NAMES_KEEP;
    return true;
  }
  if (turn->phase == PPI_NAMES_KEEP && are_kept(collect)) {
    turn->phase = PPI_NAMES_RING;
    if (ring) turn->ring_head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
  }
  if (turn->phase == PPI_NAMES_RING &&
      (!ring ||
       __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= turn->ring_head) &&
      ppi_names_give(names_now(), ppi_emit_forget))
    turn->phase = PPI_NAMES_REST;
  return false;
}
