// SPDX-License-Identifier: Apache-2.0
//
// Implements device ranges on the marking threads: a slot, a host side, two
// events put into the stream. Never waits; creates only the first events of a
// pool.

#include "base/uncancelled.h"
#include "device/device_stream.h"
#include "device/event_pool.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/frame.h"
#include "mark/mark_add.h"
#include "mark/range_slots.h"

// The bytes of a backend's event that are fetched ahead; a guess does no harm.
#define PPI_EVENT_BYTES 256u

static bool record_event(ppi_device_session *session, uint32_t pool,
                         void *event, void *stream) {
  if (ppi_device_has_failed(session) || ppi_pool_is_gone(session, pool))
    return false;
  const pprof_device *device = session->device;
  pprof_status status =
      device->backend->event_record(device->context, event, stream);
  ppi_event_note_status(session, pool, status);
  return status == PPROF_STATUS_OK;
}

// Makes the begin event a node of the graph that is being captured.
static void begin_in_graph(ppi_device_session *session, ppi_pair *pair) {
  pprof_device *device = session->device;
  if (!session->graph_nodes ||
      !PPI_BACKEND_HAS(device->backend, event_record_in_graph) ||
      ppi_device_has_failed(session))
    return;
  if (__atomic_fetch_add(&device->num_in_graphs, 1, __ATOMIC_RELAXED) >=
      PPI_GRAPH_RANGES) {
    __atomic_fetch_sub(&device->num_in_graphs, 1, __ATOMIC_RELAXED);
    ppi_device_add_note(session, PPI_DEVICE_NOTE_MANY_IN_GRAPHS);
    return;
  }
  pprof_status status = device->backend->event_record_in_graph(
      device->context, pair->begin, pair->stream, &pair->capture);
  ppi_pool_note_status(session, pair->pool, status);
  if (status == PPROF_STATUS_OK)
    pair->in_graph = PPI_IN_GRAPH_BEGIN;
  else
    __atomic_fetch_sub(&device->num_in_graphs, 1, __ATOMIC_RELAXED);
}

// The end event counts only in the same capture: two graphs have launches of
// their own.
static void end_in_graph(ppi_device_session *session, ppi_pair *pair,
                         void *stream) {
  const pprof_device *device = session->device;
  uint64_t capture = 0;
  if (!pair->in_graph || ppi_device_has_failed(session)) return;
  pprof_status status = device->backend->event_record_in_graph(
      device->context, pair->end, stream, &capture);
  ppi_pool_note_status(session, pair->pool, status);
  if (status == PPROF_STATUS_OK)
    pair->in_graph |=
        capture == pair->capture ? PPI_IN_GRAPH_END : PPI_IN_GRAPH_APART;
}

static uint64_t lose_range(ppi_lane *lane) {
  ppi_count(&lane->lost, 1);
  ppi_count(&lane->device_lost, 1);
  return 0;
}

typedef struct range_kind {
  uint32_t site;
  uint8_t flags;  // PPROF_FLAG_... values that it has from its begin on
} range_kind;

// No device can time it: the host side is kept, in the process's own table.
static uint64_t open_host_only(ppi_lane *lane, uint32_t stream,
                               range_kind kind) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  // Between enter and leave, on the calling thread.
  uint32_t taken = ppi_range_slot_take(recorder->ranges, ppi_thread_self);
  if (!taken) return lose_range(lane);
  ppi_slot *slot =
      ppi_table_slot(recorder->spool.base, recorder->ranges, taken - 1);
  ppi_slot_begin(slot, lane, kind.site, PPROF_KIND_DEVICE_RANGE);
  slot->stream = stream;
  slot->flags = kind.flags | PPROF_FLAG_NO_DEVICE_TIME;
  slot->start = ppi_clock_ticks();
  return ppi_range_id(0, ppi_slot_open(recorder->ranges, taken - 1), taken - 1);
}

static uint32_t slot_after(const ppi_device_session *session, uint32_t taken) {
  return __atomic_load_n(&session->table->next_free[taken - 1],
                         __ATOMIC_RELAXED);
}

static void fetch(const void *memory, size_t size) {
  for (size_t at = 0; at < size; at += 64)
    __builtin_prefetch((const char *)memory + at, 1);
}

// The collector, or with a driver's events its own thread, had the next slots
// last. Their lines come over while the driver records this one's event: first
// the pair, which names the events, one marker later what is behind it.
static void fetch_next(ppi_device_session *session, uint32_t taken) {
  uint32_t next = slot_after(session, taken);
  if (!next) next = ppi_pool_next(session, session->pairs[taken - 1].pool);
  if (!next) return;
  const ppi_pair *pair = &session->pairs[next - 1];
  fetch(ppi_device_slot(session, next - 1), offsetof(ppi_slot, cut) + 64);
  __builtin_prefetch(&session->table->states[next - 1], 1);
  fetch(__atomic_load_n(&pair->begin, __ATOMIC_RELAXED), PPI_EVENT_BYTES);
  fetch(__atomic_load_n(&pair->end, __ATOMIC_RELAXED), PPI_EVENT_BYTES);
  uint32_t after = slot_after(session, next);
  if (after) __builtin_prefetch(&session->pairs[after - 1], 1);
}

// The index + 1 of a slot for a range on `known`; 0 when there is none left.
static uint32_t open_slot(ppi_thread *thread, ppi_lane *lane,
                          ppi_device_session *session,
                          const ppi_known_stream *known, range_kind kind) {
  uint32_t taken = ppi_pool_take(session, known->pool, thread->number);
  if (!taken) return 0;
  ppi_slot *slot = ppi_device_slot(session, taken - 1);
  ppi_slot_begin(slot, lane, kind.site, PPROF_KIND_DEVICE_RANGE);
  slot->stream = known->id;
  slot->flags = kind.flags;
  ppi_pair *pair = &session->pairs[taken - 1];
  // The collector may look at a former use of the slot in a `next` chain.
  __atomic_store_n(&pair->shared_end, 0, __ATOMIC_RELAXED);
  pair->stream = known->handle;
  pair->begin_at = pair->end_at = (uint16_t)known->at;
  pair->feeds = 0;
  pair->has_begin = pair->has_end = pair->passed = pair->begin_placed = false;
  pair->in_graph = 0;
  fetch_next(session, taken);
  return taken;
}

static uint64_t open_timed(ppi_thread *thread, ppi_lane *lane,
                           ppi_device_session *session,
                           const ppi_known_stream *known, range_kind kind) {
  if (!known->at || known->pool >= PPI_EVENT_POOLS) {
    ppi_device_add_note(session, known->at ? PPI_DEVICE_NOTE_MANY_POOLS
                                           : PPI_DEVICE_NOTE_MANY_STREAMS);
    return open_host_only(lane, known->id, kind);
  }
  uint32_t taken = open_slot(thread, lane, session, known, kind);
  if (!taken) {
    const ppi_event_pool *pool = &session->pools[known->pool];
    bool filled = __atomic_load_n(&pool->filled, __ATOMIC_ACQUIRE);
    if (filled && !ppi_pool_is_gone(session, known->pool))
      return lose_range(lane);
    if (!filled) ppi_device_add_note(session, PPI_DEVICE_NOTE_NEW_POOL);
    return open_host_only(lane, known->id, kind);
  }
  uint32_t index = taken - 1;
  ppi_slot *slot = ppi_device_slot(session, index);
  if (known->info.capturing)
    slot->flags |= PPROF_FLAG_IN_GRAPH | PPROF_FLAG_NO_DEVICE_TIME;
  slot->start = ppi_clock_ticks();
  uint32_t gen = ppi_slot_open(session->table, index);
  ppi_pair *pair = &session->pairs[index];
  if (known->info.capturing)
    begin_in_graph(session, pair);
  else
    pair->has_begin =
        record_event(session, known->pool, pair->begin, known->handle);
  return ppi_range_id(session->table_index, gen, index);
}

static uint64_t open_slow(ppi_thread *thread, ppi_lane *lane,
                          pprof_device *device, void *stream, range_kind kind);

static uint64_t open_range(ppi_thread *thread, ppi_lane *lane,
                           pprof_device *device, void *stream,
                           range_kind kind) {
  if (!ppi_site_is_plain(kind.site))
    return open_slow(thread, lane, device, stream, kind);
  if (!device) {
    ppi_device_use_null();
    return open_host_only(lane, 0, kind);
  }
  ppi_device_session *session =
      __atomic_load_n(&device->session, __ATOMIC_ACQUIRE);
  if (!session) return open_host_only(lane, 0, kind);
  pprof_status status;
  const ppi_known_stream *known =
      ppi_stream_know(thread, session, stream, &status);
  if (!known)
    return open_host_only(
        lane, ppi_stream_id_at(session, ppi_stream_find_last(session, stream)),
        kind);
  return open_timed(thread, lane, session, known, kind);
}

// Reports an open range to an NVTX tool; answers its id.
static uint64_t notify_tool(const ppi_lane *lane, uint64_t id, uint32_t site) {
  ppi_slot_ref ref;
  if (!ppi_range_find(id, &ref)) return id;
  uint64_t emitted = ppi_emit_start(site, ppi_lane_inherited(lane).flow);
  if (!emitted) return id;
  ppi_emit_keep(ref.number, ref.index, emitted);
  // The collector may have cut it meanwhile, without an end.
  if (!ppi_range_is_open(id, &ref)) ppi_emit_end(ref.number, ref.index);
  return id | PPI_RANGE_EMITTED;
}

// For a site that is lost, or that needs more work.
static __attribute__((noinline)) uint64_t open_slow(ppi_thread *thread,
                                                    ppi_lane *lane,
                                                    pprof_device *device,
                                                    void *stream,
                                                    range_kind kind) {
  uint32_t site = kind.site;
  bool last = false;
  if (site == 0) return lose_range(lane);
  if (ppi_site_is_watched(site) && !ppi_mark_begin_watched(lane, &site, &last))
    return 0;
  kind.site = site & PPI_SITE_NUMBER;
  if (site & PPI_SITE_EXCLUDED) {
    ppi_mark_exclude(lane);
    return last ? ppi_range_unrecorded(kind.site) : 0;
  }
  uint64_t id = open_range(thread, lane, device, stream, kind);
  if (site & PPI_SITE_EMITS) id = notify_tool(lane, id, kind.site);
  if (last && !id) ppi_recorder_in_force.watched_ended(kind.site);
  return last && id ? id | PPI_RANGE_LAST : id;
}

// A marker that ends a device range runs while no window is open, too: the end
// event must still go into the stream. `serial` on the wiped page separates a
// live session from a stopped one and from a raw clone's child. False: there is
// nothing to end; `*out_lane` is NULL for a thread that has none then.
static bool enter_to_end(ppi_thread **out_thread, ppi_lane **out_lane) {
  const uint32_t *page = __atomic_load_n(&ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (!page || !__atomic_load_n(page + 1, __ATOMIC_ACQUIRE)) return false;
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || ppi_is_inside(thread)) return false;
  *out_lane = ppi_enter(out_thread, PPI_ADDS);
  if (*out_lane) return true;
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t serial = __atomic_load_n(page + 1, __ATOMIC_ACQUIRE);
  if (serial) {
    *out_thread = thread;
    *out_lane =
        serial == thread->stacks[0].serial ? thread->stacks[0].lane : NULL;
    return true;
  }
  ppi_leave(thread);
  return false;
}

// A surplus end, or that of a range which began while nothing recorded.
static void end_nothing(ppi_lane *lane) {
  if (!lane)
    __atomic_fetch_add(&ppi_recorder_in_force.ranges->unmatched, 1,
                       __ATOMIC_RELAXED);
  else if (lane->before_left == UINT32_MAX)
    ppi_count_before(lane);
  else
    ppi_count(&lane->unmatched, 1);
}

// A checkpoint may be looking at the slot.
static void add_flag(ppi_slot *slot, uint8_t flag) {
  __atomic_fetch_or(&slot->flags, flag, __ATOMIC_RELAXED);
}

// The stream's properties for the end; false: it is no stream. On the handle of
// the begin, only capturing matters. If the handle is another stream's by now,
// in this context the events are still in order; in another context the driver
// refuses.
static bool ask_end(ppi_thread *thread, ppi_device_session *session,
                    const ppi_slot_ref *ref, void *stream,
                    bool *out_capturing) {
  ppi_pair *pair = &session->pairs[ref->index];
  pprof_stream_info info = {.capturing_only = true};
  if (stream == pair->stream) {
    if (ppi_stream_ask_for(session, stream, &info) != PPROF_STATUS_OK)
      return false;
    *out_capturing = info.capturing;
    return true;
  }
  pprof_status status;
  const ppi_known_stream *known =
      ppi_stream_know(thread, session, stream, &status);
  if (!known || known->pool != pair->pool) return false;
  *out_capturing = known->info.capturing;
  if (known->at != pair->begin_at) {
    pair->end_at = (uint16_t)known->at;
    add_flag(ref->slot, PPROF_FLAG_ASYNC);
  }
  return true;
}

static void record_end(ppi_thread *thread, ppi_device_session *session,
                       const ppi_slot_ref *ref, void *stream) {
  ppi_pair *pair = &session->pairs[ref->index];
  bool capturing = false;
  if ((!pair->has_begin && !pair->in_graph) ||
      ppi_pool_is_gone(session, pair->pool) ||
      !ask_end(thread, session, ref, stream, &capturing))
    return;
  if (capturing) {
    add_flag(ref->slot, PPROF_FLAG_IN_GRAPH);
    end_in_graph(session, pair, stream);
  } else if (pair->has_begin) {
    pair->has_end = record_event(session, pair->pool, pair->end, stream);
  }
}

static ppi_device_session *session_of(const ppi_slot_ref *ref) {
  return __atomic_load_n(&ppi_device_sessions[ref->number], __ATOMIC_ACQUIRE);
}

typedef struct range_end {
  uint64_t now;
  void *stream;
  uint32_t shared_end;  // index + 1 of the slot with this end as begin event
} range_end;

static void close_range(ppi_thread *thread, ppi_lane *lane, uint64_t id,
                        const range_end *end) {
  ppi_slot_ref ref;
  if (id == 0) return;
  if (!ppi_range_find(id, &ref) ||
      !ppi_slot_is_of(&ref, PPROF_KIND_DEVICE_RANGE)) {
    if (!ppi_range_end_unrecorded(id)) end_nothing(lane);
    return;
  }
  // A range of a device that is timed keeps its slot over an edge.
  bool ours = lane && ref.table->device == 0 ? ppi_slot_end_or_count(lane, &ref)
                                             : ppi_slot_end(&ref);
  if (!ours) return;
  ref.slot->end = end->now;
  ref.slot->end_lane = lane ? lane->id : ref.slot->lane;
  ppi_device_session *session = session_of(&ref);
  if (session) {
    ppi_pair *pair = &session->pairs[ref.index];
    __atomic_store_n(&pair->shared_end, end->shared_end, __ATOMIC_RELAXED);
    if (!end->shared_end) record_end(thread, session, &ref, end->stream);
    if (!pair->has_begin || (!pair->has_end && !pair->shared_end))
      add_flag(ref.slot, PPROF_FLAG_NO_DEVICE_TIME);
  }
  if (PPI_UNLIKELY(id & (PPI_RANGE_EMITTED | PPI_RANGE_LAST)))
    ppi_slot_ended_slow(&ref, id);
  else
    ppi_slot_ended(&ref);
}

static void remember(ppi_thread *thread, pprof_device *device, void *stream,
                     uint64_t range) {
  uint32_t depth = thread->device_depth++;
  if (depth < PPI_DEVICE_STACK)
    thread->devices.stack[depth] =
        (ppi_open_device_range){device, stream, range};
}

// The innermost open range of this thread on that stream, or -1. The one flat
// stack serves all streams.
static int find_innermost(const ppi_thread *thread, const pprof_device *device,
                          const void *stream) {
  int depth = (int)PPI_MIN(thread->device_depth, PPI_DEVICE_STACK);
  for (int i = depth - 1; i >= 0; i--)
    if (thread->devices.stack[i].device == device &&
        thread->devices.stack[i].stream == stream)
      return i;
  return -1;
}

static uint64_t take_out(ppi_thread *thread, int at) {
  uint64_t range = thread->devices.stack[at].range;
  uint32_t depth = PPI_MIN(thread->device_depth, PPI_DEVICE_STACK);
  memmove(&thread->devices.stack[at], &thread->devices.stack[at + 1],
          (depth - (uint32_t)at - 1) * sizeof *thread->devices.stack);
  thread->device_depth--;
  return range;
}

// Opens a range on the thread's stack.
static uint64_t push_range(ppi_thread *thread, ppi_lane *lane,
                           pprof_device *device, void *stream,
                           pprof_site *site) {
  if (thread->device_depth >= PPI_DEVICE_STACK) return lose_range(lane);
  range_kind kind = {ppi_site_id(site, lane->stack_epoch), 0};
  return open_range(thread, lane, device, stream, kind);
}

void pprof_device_push(pprof_device *device, void *stream, pprof_site *site) {
  PPI_UNCANCELLED;
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_PUSHES_DEVICE);
  if (!lane) return;
  uint64_t range = push_range(thread, lane, device, stream, site);
  remember(thread, device, stream, range);
  ppi_leave(thread);
}

void pprof_device_pop(pprof_device *device, void *stream) {
  PPI_UNCANCELLED;
  ppi_thread *thread;
  ppi_lane *lane;
  if (!enter_to_end(&thread, &lane)) return;
  int at = lane ? find_innermost(thread, device, stream) : -1;
  if (lane && thread->device_depth > PPI_DEVICE_STACK)
    thread->device_depth--;  // of one too deep, counted lost at its push
  else if (at >= 0)
    close_range(thread, lane, take_out(thread, at),
                &(range_end){ppi_clock_ticks(), stream, 0});
  else if (!ppi_thread_pop_unkept(thread) && lane &&
           __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE))
    end_nothing(lane);
  ppi_leave(thread);
}

// The index + 1 of the new range's slot when its begin event can serve as the
// old one's end; 0: the chain is broken, and both have their own.
static uint32_t share_event(uint64_t before, uint64_t range) {
  ppi_slot_ref old, ref;
  if (!before || !range || !ppi_range_find(range, &ref) ||
      !ppi_range_find(before, &old) || old.table != ref.table)
    return 0;
  ppi_device_session *session = session_of(&ref);
  if (!session || !session->pairs[ref.index].has_begin ||
      session->pairs[ref.index].pool != session->pairs[old.index].pool)
    return 0;
  session->pairs[ref.index].feeds = old.index + 1;
  return ref.index + 1;
}

void pprof_device_next(pprof_device *device, void *stream, pprof_site *site) {
  PPI_UNCANCELLED;
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_PUSHES_DEVICE);
  if (!lane) {
    pprof_device_pop(device, stream);
    return;
  }
  uint64_t now = ppi_clock_ticks();
  int at = find_innermost(thread, device, stream);
  uint64_t before = 0;
  if (thread->device_depth > PPI_DEVICE_STACK)
    thread->device_depth--;  // of one too deep, counted lost at its push
  else if (at >= 0)
    before = take_out(thread, at);
  else if (!ppi_thread_pop_unkept(thread))
    end_nothing(lane);
  uint64_t range = push_range(thread, lane, device, stream, site);
  close_range(thread, lane, before,
              &(range_end){now, stream, share_event(before, range)});
  remember(thread, device, stream, range);
  ppi_leave(thread);
}

pprof_range ppi_device_range_begin(pprof_device *device, void *stream,
                                   pprof_site *site, uint8_t flags) {
  PPI_UNCANCELLED;
  pprof_range range = {0};
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_BEGINS);
  if (!lane) return range;
  range_kind kind = {ppi_site_id(site, lane->stack_epoch), flags};
  range.id = open_range(thread, lane, device, stream, kind);
  ppi_leave(thread);
  return range;
}

pprof_range pprof_device_range_begin(pprof_device *device, void *stream,
                                     pprof_site *site) {
  return ppi_device_range_begin(device, stream, site, 0);
}

void pprof_device_range_end(pprof_range range, void *stream) {
  PPI_UNCANCELLED;
  ppi_thread *thread;
  ppi_lane *lane;
  if (range.id == 0 || !enter_to_end(&thread, &lane)) return;
  close_range(thread, lane, range.id,
              &(range_end){ppi_clock_ticks(), stream, 0});
  ppi_leave(thread);
}

pprof_device_token pprof_device_scope_push_(pprof_device *device, void *stream,
                                            pprof_site *site) {
  pprof_device_token token = {pprof_device_range_begin(device, stream, site),
                              stream};
  return token;
}

void pprof_device_scope_pop_(const pprof_device_token *token) {
  pprof_device_range_end(token->range, token->stream);
}

void pprof_device_work(pprof_device *device, void *stream,
                       const pprof_work_amount *work) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  int at = find_innermost(thread, device, stream);
  ppi_slot_ref ref;
  ppi_work amount = ppi_work_read(work);
  if (at >= 0 && ppi_range_is_open(thread->devices.stack[at].range, &ref))
    ppi_slot_add_work(ref.slot, &amount);
  else if (at < 0 || thread->devices.stack[at].range)
    ppi_count(&lane->flows_lost, 1);
  ppi_leave(thread);
}

void pprof_stream_name(pprof_device *device, void *stream, const char *name) {
  PPI_UNCANCELLED;
  pprof_stream_info info = {0};
  if (!device || !device->available || !name) return;
  ppi_thread *thread;
  ppi_lane *lane;
  bool live = enter_to_end(&thread, &lane);
  ppi_device_session *session =
      live ? __atomic_load_n(&device->session, __ATOMIC_ACQUIRE) : NULL;
  if (!(session && ppi_device_has_failed(session)) &&
      ppi_stream_ask(device, stream, &info) == PPROF_STATUS_OK &&
      !info.capturing) {
    ppi_stream_set_name(device, session, &info, name);
  }
  if (live) ppi_leave(thread);
}
