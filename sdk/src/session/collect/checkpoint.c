// SPDX-License-Identifier: Apache-2.0
//
// Takes a consistent look at stacks that their owners go on changing.
#include "session/collect/checkpoint.h"

#include "base/mem.h"
#include "mark/thread_impl.h"
#include "mark/thread_lane.h"

#define TRIES 2000

typedef struct stack_copy {
  uint64_t word;
  uint32_t epoch;
  uint32_t num_frames;
  ppi_frame frames[PPI_MAX_FRAMES];
} stack_copy;

// A marker that ran when the checkpoint's time was read may still publish an
// earlier start. It is over once the thread was outside of a marker or the
// commit word has moved.
static bool is_settled(const ppi_thread *owner, const ppi_lane *lane,
                       uint64_t first_word) {
  return !owner || !__atomic_load_n(&owner->busy, __ATOMIC_ACQUIRE) ||
         ppi_lane_word(lane) != first_word;
}

// The owner may write while we copy; the unchanged commit word shows that it
// did not. The race is by design, so the thread sanitizer is kept off.
__attribute__((no_sanitize("thread"))) static bool copy_stack(
    const ppi_lane *lane, const ppi_thread *owner, stack_copy *out) {
  uint64_t first_word = ppi_lane_word(lane);
  bool settled = false;
  for (int i = 0; i < TRIES; i++) {
    settled = settled || is_settled(owner, lane, first_word);
    out->word = ppi_lane_word(lane);
    out->epoch = __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE);
    uint64_t room = __atomic_load_n(&lane->num_frames, __ATOMIC_ACQUIRE);
    out->num_frames = (uint32_t)PPI_MIN(PPI_DEPTH(out->word), room);
    const ppi_frame *frames = ppi_lane_frames_now(lane);
    for (uint32_t f = 0; f < out->num_frames; f++) out->frames[f] = frames[f];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (settled && ppi_lane_word(lane) == out->word) return true;
  }
  return false;
}

static void list_open(ppi_open_list *list, const pprof_event *event) {
  if (!PPI_PUSH(list->events, list->num, list->capacity, *event))
    list->failed = true;
}

static void list_frames(pprof_session *session, const ppi_lane *lane,
                        const stack_copy *stack, uint64_t now) {
  const ppi_drain *drain = &session->drain;
  for (uint32_t i = 0; i < stack->num_frames; i++) {
    const ppi_frame *frame = &stack->frames[i];
    if (frame->flags & PPI_FRAME_UNRECORDED || frame->start > now) continue;
    const ppi_window *window = ppi_drain_window_at(drain, frame->start);
    if (!window) continue;
    pprof_event event = {.start_ns = ppi_drain_ns(drain, frame->start),
                         .end_ns = ppi_drain_ns(drain, now),
                         .site = frame->site,
                         .lane = lane->id,
                         .depth = i,
                         .kind = PPROF_KIND_RANGE,
                         .window = window->index};
    list_open(&session->collect.open, &event);
  }
}

// The open range that a record was at the checkpoint's time.
static void list_record(pprof_session *session, const ppi_lane *lane,
                        const ppi_record *record, uint64_t now) {
  const ppi_drain *drain = &session->drain;
  const ppi_window *window = ppi_drain_window_at(drain, record->start);
  if (record->kind != PPROF_KIND_RANGE || record->start > now || !window)
    return;
  pprof_event event = {
      .start_ns = ppi_drain_ns(drain, record->start),
      .end_ns = ppi_drain_ns(drain, PPI_MIN(now, window->close_ticks)),
      .site = record->site,
      .lane = lane->id,
      .depth = record->depth,
      .kind = PPROF_KIND_RANGE,
      .window = window->index};
  list_open(&session->collect.open, &event);
}

// Records that came after the checkpoint's time wait for the next cycle, so
// that nothing is delivered before a checkpoint that begins after it. Outer
// ranges, which end last, are listed first.
static void hold_back(pprof_session *session, ppi_cursor *cursor,
                      const ppi_lane *lane, uint64_t now) {
  const uint8_t *base = session->drain.spool->base;
  uint64_t end = cursor->snapshot;
  while (end > cursor->next) {
    const ppi_record *record = ppi_lane_slot(base, lane, end - 1);
    bool has_end = record->kind == PPROF_KIND_RANGE;
    if ((has_end ? record->end : record->start) <= now) break;
    list_record(session, lane, record, now);
    for (end--; end > cursor->next; end--)
      if (ppi_lane_slot(base, lane, end - 1)->kind < PPI_RECORD_EXT_FLOWS)
        break;
  }
  cursor->snapshot = end;
}

static bool take_lane(pprof_session *session, ppi_cursor *cursor,
                      const ppi_lane *lane, uint64_t now) {
  static stack_copy stack;  // one collector per process
  cursor->snapshot = PPI_HEAD(ppi_lane_word(lane));
  if (!copy_stack(lane, ppi_thread_owning(lane), &stack)) return false;
  cursor->snapshot = PPI_HEAD(stack.word);
  // A stack of an older epoch is about to be cut at its edge.
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (stack.num_frames && stack.epoch != epoch) return false;
  list_frames(session, lane, &stack, now);
  hold_back(session, cursor, lane, now);
  return true;
}

// The part of a slot before its flows, valid while its state stays; the owner
// may write it meanwhile, as with a stack.
typedef struct slot_copy {
  uint64_t words[offsetof(ppi_slot, flows) / sizeof(uint64_t)];
} slot_copy;

__attribute__((no_sanitize("thread"))) static bool copy_slot(
    const uint64_t *state, const ppi_slot *slot, uint64_t *out_state,
    slot_copy *out) {
  const uint64_t *words = (const uint64_t *)(const void *)slot;
  for (int i = 0; i < TRIES; i++) {
    *out_state = __atomic_load_n(state, __ATOMIC_ACQUIRE);
    if (!ppi_slot_is_pending(*out_state)) return true;
    for (size_t w = 0; w < sizeof out->words / sizeof *out->words; w++)
      out->words[w] = words[w];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(state, __ATOMIC_ACQUIRE) == *out_state) return true;
  }
  return false;
}

static void list_slot(pprof_session *session, const ppi_slot *slot,
                      uint32_t kind, uint64_t now) {
  const ppi_drain *drain = &session->drain;
  const ppi_window *window = ppi_drain_window_at(drain, slot->start);
  if (!window || slot->start > now) return;
  if (slot->provisional && kind == PPI_SLOT_ENDED) return;
  uint64_t until = kind == PPI_SLOT_ENDED ? slot->end : now;
  until = PPI_MIN(PPI_MIN(until, window->close_ticks), now);
  pprof_event event = {.start_ns = ppi_drain_ns(drain, slot->start),
                       .end_ns = ppi_drain_ns(drain, until),
                       .site = slot->site,
                       .lane = slot->lane,
                       .stream = ppi_slot_stream(slot),
                       .depth = slot->depth,
                       .kind = slot->kind,
                       .flags = ppi_slot_flags(slot),
                       .window = window->index};
  list_open(&session->collect.open, &event);
}

static bool take_slot(pprof_session *session, const ppi_table *table,
                      uint32_t index, uint64_t now) {
  uint64_t state = 0;
  union {
    slot_copy words;
    ppi_slot slot;
  } copy;
  const ppi_slot *slot =
      ppi_table_slot(session->drain.spool->base, table, index);
  if (!copy_slot(&table->states[index], slot, &state, &copy.words))
    return false;
  if (ppi_slot_is_pending(state))
    list_slot(session, &copy.slot, PPI_STATE_OF(state), now);
  return true;
}

static bool take_tables(pprof_session *session, uint64_t now) {
  const ppi_spool *spool = session->drain.spool;
  bool whole = true;
  uint32_t num = __atomic_load_n(&spool->header->num_tables, __ATOMIC_ACQUIRE);
  for (uint32_t t = 0; t < num; t++) {
    const ppi_table *table = ppi_spool_chunk(spool, spool->header->tables[t]);
    uint32_t num_slots = ppi_table_num_slots(table);
    for (uint32_t i = 0; i < num_slots; i++)
      if (ppi_slot_is_pending(
              __atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE)))
        whole &= take_slot(session, table, i, now);
  }
  return whole;
}

// A thread that is joining has no lane to read yet, or one less than it will
// have.
static bool someone_is_joining(void) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    if (__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) &&
        (__atomic_load_n(&thread->joining, __ATOMIC_ACQUIRE) ||
         !ppi_thread_has_rows(thread)))
      return true;
  return false;
}

static bool take_lanes(pprof_session *session, uint64_t now) {
  const ppi_spool *spool = session->drain.spool;
  bool whole = true;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane)
      whole &= take_lane(session, &session->collect.cursors[i], lane, now);
  }
  return whole;
}

void ppi_checkpoint_take(pprof_session *session) {
  uint64_t now = ppi_clock_ticks();
  ppi_thread_barrier();
  session->collect.open.num = 0;
  session->collect.open.failed = false;
  session->collect.num_unchecked = 0;
  bool whole = !someone_is_joining();
  whole &= take_lanes(session, now);
  ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  // An edge came meanwhile: the windows of the copied ranges are unknown.
  whole &= __atomic_load_n(&header->num_edges, __ATOMIC_ACQUIRE) ==
           session->drain.edges_seen;
  session->collect.is_whole = whole && !session->collect.open.failed;
  if (!session->collect.is_whole) return;
  session->collect.checkpoint_ticks = now;
  header->checked_ticks = now;
  // A range reported as open must not be shorter in recover.
  header->last_ticks = now;
}

// Slots are read after all ended ranges were delivered. A pending one is
// delivered later, by this same collector. The slots include every range that
// began before the checkpoint's time: those markers were over when the lanes
// had been taken. Later ranges are reported later; listed ones are open until
// then.
static void keep_before(ppi_open_list *list, uint64_t time_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < list->num; i++) {
    pprof_event *event = &list->events[i];
    if (event->start_ns >= time_ns) continue;
    event->end_ns = PPI_MIN(event->end_ns, time_ns);
    list->events[kept++] = *event;
  }
  list->num = kept;
}

pprof_status ppi_checkpoint_notify(pprof_session *session) {
  bool whole = session->collect.is_whole &&
               take_tables(session, session->collect.checkpoint_ticks);
  pprof_checkpoint checkpoint = {0};
  if (whole && !session->collect.open.failed) {
    uint64_t ticks = session->collect.checkpoint_ticks;
    uint64_t settled = ppi_kernels_settled(&session->collect.kernels, ticks);
    checkpoint.time_ns = ppi_drain_ns(&session->drain, settled);
    if (settled < ticks)
      keep_before(&session->collect.open, checkpoint.time_ns);
    checkpoint.open = session->collect.open.events;
    checkpoint.num_open = session->collect.open.num;
  }
  pprof_sink *sink = &session->tee.base;
  return sink->checkpoint(sink, &checkpoint);
}
