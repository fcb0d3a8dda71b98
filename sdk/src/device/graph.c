// SPDX-License-Identifier: Apache-2.0
//
// Separates the launches of a graph by the times of its event nodes.
#include "device/graph.h"

#include "device/event_pool.h"

// The distance of two events is a float of milliseconds: from an old reference
// two launches would look like one.
#define REFERENCE_NS 4000000000u

void ppi_graph_pin(ppi_device_session *session, uint32_t index) {
  ppi_pair *pair = &session->pairs[index];
  const ppi_slot *slot = ppi_device_slot(session, index);
  if (pair->in_graph == (PPI_IN_GRAPH_BEGIN | PPI_IN_GRAPH_END) &&
      session->graphs->num_ranges < PPI_GRAPH_RANGES) {
    session->graphs->ranges[session->graphs->num_ranges++] = (ppi_graph_range){
        .begin = pair->begin,
        .end = pair->end,
        .pool = pair->pool,
        .site = slot->site,
        .lane = slot->lane,
        .stream = slot->stream,
        .depth = slot->depth,
        .pairing = slot->flags & (PPROF_FLAG_PAIRED | PPROF_FLAG_INNER),
        .capture_ticks = slot->start};
    ppi_device_add_note(session, PPI_DEVICE_NOTE_GRAPH);
  }
  if (!(pair->in_graph & (PPI_IN_GRAPH_END | PPI_IN_GRAPH_APART)))
    ppi_event_destroy(session, pair->pool, pair->end);
  ppi_pair_set(pair, NULL, NULL);
  pair->in_graph = 0;
}

static pprof_status elapsed(ppi_device_session *session, uint32_t pool,
                            void *from, void *to, int64_t *out_ns) {
  const pprof_device *device = session->device;
  if (ppi_device_has_failed(session)) return PPROF_STATUS_DEVICE;
  if (ppi_pool_is_gone(session, pool)) return PPROF_STATUS_UNAVAILABLE;
  pprof_status status =
      device->backend->event_elapsed(device->context, from, to, out_ns);
  ppi_pool_note_status(session, pool, status);
  return status;
}

// Events that no launch has recorded answer an error other than BUSY.
static pprof_status read_begin(ppi_device_session *session,
                               const ppi_graph_range *range, int64_t *out_ns) {
  void *reference = session->graphs->references[range->pool];
  if (!reference && !ppi_device_is_absolute(session)) return PPROF_STATUS_BUSY;
  return elapsed(session, range->pool, reference, range->begin, out_ns);
}

static void destroy_reference(ppi_device_session *session, uint32_t pool) {
  ppi_event_destroy(session, pool, session->graphs->references[pool]);
  session->graphs->references[pool] = NULL;
}

// Moves a known time over to the new reference. A launch that comes meanwhile,
// or was not reported yet, must be found as one: its time stays unlike any.
static void carry_over(ppi_device_session *session, ppi_graph_range *range,
                       void *next) {
  int64_t then_ns = 0, now_ns = 0;
  if (!range->is_known) return;
  pprof_status status =
      elapsed(session, range->pool, next, range->begin, &then_ns);
  if (!status) status = read_begin(session, range, &now_ns);
  range->begin_ns = !status && now_ns == range->begin_ns ? then_ns : INT64_MIN;
}

static void renew_reference(ppi_device_session *session, uint32_t pool,
                            uint64_t now_ns) {
  pprof_anchor next;
  session->graphs->reference_ns[pool] = now_ns;
  if (!ppi_anchor_record(session, pool, &next)) return;
  for (uint32_t i = 0; i < session->graphs->num_ranges; i++)
    if (session->graphs->ranges[i].pool == pool)
      carry_over(session, &session->graphs->ranges[i], next.event);
  destroy_reference(session, pool);
  session->graphs->references[pool] = next.event;
}

void ppi_graph_prepare(ppi_device_session *session) {
  if (session->graphs->num_ranges == 0 || ppi_device_is_absolute(session))
    return;
  uint64_t now_ns = ppi_clock_monotonic_ns();
  for (uint32_t i = 0; i < session->graphs->num_ranges; i++) {
    uint32_t pool = session->graphs->ranges[i].pool;
    if (!session->graphs->references[pool] ||
        now_ns - session->graphs->reference_ns[pool] > REFERENCE_NS)
      renew_reference(session, pool, now_ns);
  }
}

// The ticks that become `ns` or a little less.
static uint64_t ticks_at(uint64_t ns) {
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  unsigned __int128 ticks = (unsigned __int128)ns * header->ticks_per_second;
  return header->start_ticks + (uint64_t)(ticks / 1000000000u);
}

// The times of the events as they are now, by the pair of a fresh slot.
static pprof_status place(ppi_device_session *session,
                          const ppi_graph_range *range, uint32_t index,
                          ppi_placed *placed) {
  ppi_pair *pair = &session->pairs[index];
  ppi_slot *slot = ppi_device_slot(session, index);
  void *begin = pair->begin, *end = pair->end;
  ppi_pair_set(pair, range->begin, range->end);
  // Neither its order on a stream nor its submission is known. Nobody recorded
  // the launch, so the host side is a point.
  slot->flags = PPROF_FLAG_ASYNC;
  slot->start = slot->end = range->capture_ticks;
  pprof_status status = ppi_device_clock_place(session, index, slot, placed);
  ppi_pool_note_status(session, range->pool, status);
  slot->start = slot->end = ticks_at(slot->device_start_ns);
  ppi_pair_set(pair, begin, end);
  return status;
}

// Begin and end of one launch: a launch makes both unready, then records both,
// so two equal readings around the others are of the same one.
static pprof_status read_launch(ppi_device_session *session,
                                ppi_graph_range *range, uint32_t index,
                                ppi_placed *placed) {
  int64_t before_ns = 0, after_ns = 0, lasted_ns = 0;
  pprof_status status = read_begin(session, range, &before_ns);
  if (!status)
    status =
        elapsed(session, range->pool, range->begin, range->end, &lasted_ns);
  if (!status && lasted_ns < 0) status = PPROF_STATUS_BUSY;
  if (!status) status = place(session, range, index, placed);
  if (!status) status = read_begin(session, range, &after_ns);
  if (!status && after_ns != before_ns) status = PPROF_STATUS_BUSY;
  if (status) return status;
  range->begin_ns = after_ns;
  range->is_known = true;
  return PPROF_STATUS_OK;
}

static void finish_slot(ppi_device_session *session,
                        const ppi_graph_range *range, uint32_t index) {
  ppi_slot *slot = ppi_device_slot(session, index);
  slot->flags = PPROF_FLAG_IN_GRAPH | range->pairing;
  slot->lane = slot->end_lane = range->lane;
  slot->stream = range->stream;
  slot->depth = range->depth;
  uint32_t gen = PPI_STATE_GEN(session->table->states[index]) + 1;
  __atomic_store_n(&session->table->states[index],
                   PPI_STATE(0, gen, PPI_SLOT_ENDED), __ATOMIC_RELEASE);
}

static void prepare_slot(ppi_device_session *session,
                         const ppi_graph_range *range, uint32_t index) {
  ppi_pair *pair = &session->pairs[index];
  ppi_slot_begin(ppi_device_slot(session, index), NULL, range->site,
                 PPROF_KIND_DEVICE_RANGE);
  pair->shared_end = pair->feeds = 0;
  pair->begin_at = pair->end_at = 0;
  pair->has_begin = pair->has_end = pair->begin_placed = false;
  pair->passed = true;
}

uint32_t ppi_graph_see(ppi_device_session *session, uint32_t i,
                       ppi_placed *placed) {
  ppi_graph_range *range = &session->graphs->ranges[i];
  int64_t begin_ns = 0;
  if (read_begin(session, range, &begin_ns) ||
      (range->is_known && begin_ns == range->begin_ns))
    return 0;
  // None left: a later look finds the launch, or misses it.
  uint32_t taken = ppi_pool_take(session, range->pool, 0);
  if (!taken) return 0;
  uint32_t index = taken - 1;
  prepare_slot(session, range, index);
  uint64_t clamped = placed->clamped;
  pprof_status status = read_launch(session, range, index, placed);
  // The events may have served another range before they were captured.
  if (status ||
      ppi_device_slot(session, index)->start <= range->capture_ticks) {
    placed->clamped = clamped;
    ppi_pool_give(session, index);
    return 0;
  }
  finish_slot(session, range, index);
  return taken;
}

void ppi_graph_forget_pool(ppi_device_session *session, uint32_t pool) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < session->graphs->num_ranges; i++)
    if (session->graphs->ranges[i].pool != pool)
      session->graphs->ranges[left++] = session->graphs->ranges[i];
  session->graphs->num_ranges = left;
  destroy_reference(session, pool);
}

void ppi_graph_clear(ppi_device_session *session) {
  for (uint32_t pool = 0; pool < PPI_EVENT_POOLS; pool++)
    destroy_reference(session, pool);
  session->graphs->num_ranges = 0;
}
