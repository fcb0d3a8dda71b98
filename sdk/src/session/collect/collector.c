// SPDX-License-Identifier: Apache-2.0
//
// Runs the one thread between lanes and sinks. Each cycle: edges, definitions,
// records, cross-thread ranges, devices, then kept records are freed.
#include "session/collect/collector.h"

#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/start_thread.h"
#include "base/uncancelled.h"
#include "deliver/totals.h"
#include "device/device_note.h"
#include "inject/inject.h"
#include "mark/thread_lane.h"
#include "session/capture/windows.h"
#include "session/collect/checkpoint.h"
#include "session/collect/cross_thread.h"
#include "session/collect/kept.h"
#include "session/collect/names_turn.h"
#include "session/collect/window_session.h"
#include "session/state/edges.h"
#include "spool/chunks.h"
#include "waits/waits.h"

// Without memory of its own: figures that are published are whole.
static void add_up(pprof_session *session, const ppi_spool *spool,
                   uint64_t v[PPI_NUM_TOTALS]) {
  const ppi_tally *tally = &session->drain.tally;
  for (size_t lane = 0; lane < tally->num_lanes; lane++)
    for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
      v[key] += tally->lanes[lane][key];
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane) ppi_totals_count_lane(lane, v);
  }
}

// publish_stats updates the answer of pprof_session_stats.
static void publish_stats(pprof_session *session) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  pprof_stats stats = {.size = sizeof stats};
  uint64_t v[PPI_NUM_TOTALS] = {0};
  add_up(session, spool, v);
  stats.recorded = v[PPI_TOTAL_RECORDED];
  stats.lost = v[PPI_TOTAL_LOST] + ppi_counted(&spool->header->lost);
  stats.excluded = v[PPI_TOTAL_EXCLUDED];
  stats.unmatched = v[PPI_TOTAL_UNMATCHED] + ppi_totals_unmatched(spool);
  stats.abandoned = v[PPI_TOTAL_ABANDONED];
  stats.late = v[PPI_TOTAL_LATE];
  stats.invalid = v[PPI_TOTAL_INVALID];
  stats.device_lost = v[PPI_TOTAL_DEVICE_LOST];
  stats.names_overflowed = ppi_counted(&spool->header->names_overflowed);
  stats.clipped = v[PPI_TOTAL_CLIPPED];
  stats.begun_before = v[PPI_TOTAL_BEGUN_BEFORE];
  stats.flows_lost = v[PPI_TOTAL_FLOWS_LOST];
  stats.clock_error_ns = session->collect.placed.clock_error_ns;
  stats.own_cost_ns_per_marker_x1000 = spool->header->own_cost_ns_x1000;
  stats.spool_bytes = ppi_spool_bytes(spool);
  stats.crash_safe = spool->header->crash_safe;
  stats.missed = ppi_session_num_missed(session);
  pthread_mutex_lock(&session->wakeup.mutex);
  session->stats = stats;
  pthread_mutex_unlock(&session->wakeup.mutex);
}

pprof_status pprof_session_stats(pprof_session *session, pprof_stats *out) {
  PPI_UNCANCELLED;
  if (!session || !out || out->size < sizeof(size_t))
    return PPROF_STATUS_INVALID;
  if (session->pid && session->pid != (uint32_t)getpid())
    return PPROF_STATUS_INVALID;
  size_t size = PPI_MIN(out->size, sizeof(pprof_stats));
  pthread_mutex_lock(&session->wakeup.mutex);
  pprof_stats stats = session->stats;
  pthread_mutex_unlock(&session->wakeup.mutex);
  stats.size = out->size;
  memcpy(out, &stats, size);
  return PPROF_STATUS_OK;
}

// The interval while nothing is recorded, and the shortest wait for a window's
// time.
#define IDLE_NS 50000000ull
#define SHORTEST_WAIT_NS 20000ull

static ppi_spool *spool_now(void) {
  return &ppi_recorder_in_force.spool;
}

// Cuts a stack of an older epoch while its thread is outside of markers.
// Otherwise the thread cuts it, or the next cycle does. Its epoch must have
// ended among the first `num_edges` edges, which markers got before the
// barrier; any other stack is its owner's.
static void cut_lane(ppi_spool *spool, ppi_lane *lane, uint64_t num_edges) {
  const ppi_edge *last = &spool->header->edges[(num_edges - 1) % PPI_MAX_EDGES];
  uint32_t epoch = last->new_epoch;
  uint32_t stack_epoch = __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE);
  if (stack_epoch == epoch ||
      !ppi_edge_ended(spool->header, stack_epoch, num_edges))
    return;
  if (__atomic_compare_exchange_n(&lane->edge, &stack_epoch, epoch, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ppi_lane_cut(spool, lane, epoch);
}

// Once the page has no serial, a leaving thread cannot mark its lane: the
// memory may be another session's. Without an epoch no thread takes a lane, and
// without a busy thread none is about to.
static bool nobody_joins(void) {
  return __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE) == 0 &&
         ppi_thread_num_busy() == 0;
}

static bool has_left(const ppi_lane *lane, bool no_joining) {
  return __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE) == PPI_LANE_LEFT ||
         (no_joining && !ppi_thread_owning(lane));
}

static void cut_lanes(pprof_session *session) {
  ppi_spool *spool = spool_now();
  uint64_t num_edges =
      __atomic_load_n(&session->windows.num_published, __ATOMIC_ACQUIRE);
  if (num_edges == 0) return;
  ppi_thread_barrier();
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next) {
    if (__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE)) continue;
    for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++) {
      ppi_lane *lane = ppi_thread_lane(thread, i);
      if (lane) cut_lane(spool, lane, num_edges);
    }
  }
  bool no_joining = nobody_joins();
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane && has_left(lane, no_joining)) cut_lane(spool, lane, num_edges);
  }
}

// A session that found a thread stuck in a marker at its stop leaves that lane.
static bool needs_cut(pprof_session *session) {
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool_now()); i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane && __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE) != epoch)
      return true;
  }
  return false;
}

static void follow_edges(pprof_session *session) {
  ppi_edges_see(session);
  uint64_t seen = session->collect.edges_followed;
  if (needs_cut(session)) cut_lanes(session);
  // Frees the ring for the next edges, once no stack needs these.
  if (!needs_cut(session))
    __atomic_store_n(&spool_now()->header->edges_done, seen, __ATOMIC_RELEASE);
}

static void drain_lanes(pprof_session *session, bool to_snapshot) {
  ppi_spool *spool = spool_now();
  ppi_drain *drain = &session->drain;
  uint32_t num = ppi_spool_num_lanes(spool);
  if (!to_snapshot)
    for (uint32_t i = 0; i < num; i++) {
      const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
      if (lane)
        session->collect.cursors[i].snapshot = PPI_HEAD(ppi_lane_word(lane));
    }
  ppi_edges_see(session);
  // After the heads, so that every name in the records is defined.
  uint64_t names_end =
      __atomic_load_n(&spool->header->names_end, __ATOMIC_ACQUIRE);
  ppi_session_keep_error(session, ppi_drain_definitions(drain, names_end));
  for (uint32_t i = 0; i < num; i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    ppi_cursor *cursor = &session->collect.cursors[i];
    if (!lane || cursor->snapshot <= cursor->next) continue;
    drain->delivered_end = 0;
    ppi_session_keep_error(
        session, ppi_drain_lane(drain, lane, cursor->next, cursor->snapshot));
    session->collect.num_unchecked += cursor->snapshot - cursor->next;
    cursor->next = cursor->snapshot;
    if (drain->delivered_end) cursor->delivered_end = drain->delivered_end;
  }
}

static size_t poll_devices(pprof_session *session) {
  size_t waiting = 0;
  if (session->settings.device_mode == PPI_DEVICE_MODE_OFF) return 0;
  for (pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->session && d->available &&
        d->refused_serial != ppi_recorder_in_force.serial &&
        ppi_resolve_attach(d, session->settings.graph_nodes) != PPROF_STATUS_OK)
      d->refused_serial = ppi_recorder_in_force.serial;
    if (d->session)
      waiting += ppi_resolve_poll(d->session, &session->drain,
                                  &session->collect.placed);
  }
  return waiting;
}

// With little room left, a checkpoint makes log writers close their blocks;
// that keeps records, which frees slots.
static bool is_pressed(pprof_session *session) {
  ppi_spool *spool = spool_now();
  if (ppi_spool_chunks_free(spool) < ppi_spool_chunks_all(spool) / 4 ||
      session->collect.num_left > PPI_MAX_LANES / 4)
    return true;
  ppi_table *table = ppi_recorder_in_force.ranges;
  if (table->next_seq - table->kept > ppi_table_num_slots(table) / 4 &&
      !ppi_table_grow(spool, table))
    return true;
  for (const pprof_device *d = ppi_device_list(); d; d = d->next)
    if (d->session && d->session->table->next_seq - d->session->table->kept >
                          ppi_table_num_slots(d->session->table) / 4)
      return true;
  return false;
}

static void once_a_second(pprof_session *session) {
  ppi_clock_sample now = ppi_clock_take_sample();
  if (!ppi_clock_check(&session->first_sample, &now))
    session->collect.clock_jumped = true;
  ppi_windows_sample(session, &now);
  ppi_spool_hold(spool_now());
  ppi_spool_look_again(spool_now());
  ppi_spool_header *header = spool_now()->header;
  header->clamped = session->collect.placed.clamped;
  header->clock_error_ns = session->collect.placed.clock_error_ns;
}

// In an epoch that only watches, lanes get nothing but frames.
static bool is_recording(void) {
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  return epoch && epoch != __atomic_load_n(&ppi_recorder_in_force.watch_epoch,
                                           __ATOMIC_ACQUIRE);
}

// Markers of threads that ran while another one's first marker started the
// session.
static void count_missed(pprof_session *session) {
  uint64_t missed = ppi_thread_take_missed();
  if (!missed) return;
  __atomic_fetch_add(&spool_now()->header->lost, missed, __ATOMIC_RELAXED);
  session->collect.num_before_start += missed;
}

// One cycle; false where a sink had no room for what it delivered.
static bool cycle(pprof_session *session, bool wants_checkpoint) {
  ppi_spool *spool = spool_now();
  uint64_t now = ppi_clock_ticks();
  spool->header->last_ticks = now;
  count_missed(session);
  ppi_spool_grow(spool);
  ppi_spool_touch_ahead(spool, 16);
  bool all_have_room = ppi_session_have_room(session);
  uint64_t second = spool->header->ticks_per_second;
  bool checkpoint = wants_checkpoint ||
                    session->collect.names_turn.wants_checkpoint ||
                    session->collect.num_unchecked >= PPI_MANY_UNCHECKED ||
                    is_pressed(session);
  if (now - session->collect.last_second_ticks >= second) {
    session->collect.last_second_ticks = now;
    once_a_second(session);
    checkpoint = true;
  }
  follow_edges(session);
  checkpoint |= ppi_session_awaits_window(session);
  if (checkpoint) ppi_checkpoint_take(session);
  drain_lanes(session, checkpoint);
  ppi_cross_thread_drain(session, checkpoint && session->collect.is_whole
                                      ? session->collect.checkpoint_ticks
                                      : UINT64_MAX);
  size_t waiting = poll_devices(session);
  ppi_kernels_serve(&session->collect.kernels_demand, &session->collect.kernels,
                    session->settings.kernels, &session->drain);
  waiting += ppi_kernels_poll(&session->collect.kernels, &session->drain);
  session->collect.is_idle = waiting == 0 && !checkpoint && !is_recording();
  if (checkpoint) ppi_checkpoint_notify(session);
  ppi_collector_free_kept(session);
  session->collect.names_turn.wants_checkpoint =
      ppi_names_turn(&session->collect);
  if (checkpoint) publish_stats(session);
  return all_have_room;
}

// Waits for the interval to pass, for a time when windows move, or for a
// request.
static void wait_for_work(pprof_session *session, uint64_t answered,
                          uint64_t due_ns) {
  uint64_t interval_ns = session->settings.options.drain_interval_us * 1000ull;
  if (session->collect.is_idle) interval_ns = PPI_MAX(interval_ns, IDLE_NS);
  ppi_wakeup_wait(&session->wakeup, answered,
                  PPI_MIN(interval_ns, PPI_MAX(due_ns, SHORTEST_WAIT_NS)));
}

// The time that a stop still waits. It counts naps, too: the clock may stand
// still.
typedef struct patience {
  uint64_t end_ns, naps;
} patience;

enum { NAP_NS = 200000 };

static patience begin_patience(const pprof_session *session) {
  uint64_t wait_ns = session->settings.options.stop_wait_ms * 1000000ull;
  return (patience){ppi_clock_monotonic_ns() + wait_ns, wait_ns / NAP_NS};
}

// False: the time is over.
static bool wait_a_little(patience *left) {
  if (left->naps == 0 || ppi_clock_monotonic_ns() >= left->end_ns) return false;
  left->naps--;
  struct timespec pause = {0, NAP_NS};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  return true;
}

// Runs after the epoch's end. Every accepted record becomes an event, device
// ranges get their time to finish, and the rest is late.
static void deliver_rest(pprof_session *session) {
  patience left = begin_patience(session);
  cycle(session, false);
  // A thread that was in a marker by chance (pprof_step, say) is checked again;
  // a stuck one keeps its stack.
  do follow_edges(session);
  while (!session->stuck && needs_cut(session) && wait_a_little(&left));
  session->collect.cut_before = UINT64_MAX;  // whatever is open still
  while (poll_devices(session) +
                 ppi_kernels_poll(&session->collect.kernels, &session->drain) >
             0 &&
         wait_a_little(&left))
    ppi_collector_free_kept(session);
  for (pprof_device *d = ppi_device_list(); d; d = d->next)
    if (d->session)
      ppi_resolve_rest(d->session, &session->drain, &session->collect.placed,
                       session->stop_ticks);
  ppi_kernels_stop(&session->collect.kernels_demand, &session->collect.kernels,
                   &session->drain);
  ppi_session_keep_error(session, session->collect.kernels.error);
  drain_lanes(session, false);
  ppi_cross_thread_drain(session, UINT64_MAX);
}

// Notes memory below the requested limit.
static void note_memory(pprof_session *session) {
  const ppi_spool *spool = spool_now();
  char text[160];
  ppi_spool_memory(spool, text, sizeof text);
  if (ppi_spool_want())
    ppi_texts_add(&session->notes.all, "memory", ppi_spool_want());
  else if (!ppi_spool_has_its_limit(spool))
    ppi_texts_add(&session->notes.all, "memory", text);
}

// Figures without device times look like those of a program without a device.
static void note_untimed(pprof_session *session) {
  const ppi_kernel_source *source = session->settings.kernels;
  if (session->settings.kernels_are_on ||
      session->collect.kernels.num_times > 0)
    return;
  for (const pprof_device *d = ppi_device_list(); d; d = d->next)
    if (d->session) return;
  for (; source; source = source->next)
    if (source->is_used())
      ppi_texts_add(&session->notes.all, source->backend,
                    "used, and nothing timed its work. Next: pprof-report run "
                    "--kernels");
}

static void note_start(pprof_session *session) {
  char text[96];
  uint64_t num = session->collect.num_before_start;
  snprintf(text, sizeof text,
           "%llu markers came while another one started the session: lost",
           (unsigned long long)num);
  if (num) ppi_texts_add(&session->notes.all, "start", text);
}

static void note_rest(pprof_session *session) {
  ppi_notes_close(&session->notes);
  ppi_session_note_missed(session);
  ppi_device_notes(&session->notes.all,
                   session->settings.device_mode == PPI_DEVICE_MODE_OFF);
  ppi_kernels_notes(&session->collect.kernels, &session->notes.all);
  note_untimed(session);
  note_memory(session);
  if (session->collect.clock_jumped || ppi_clock_stood_still())
    ppi_texts_add(&session->notes.all, "clock", ppi_clock_note());
  if (session->windows.had_none)
    ppi_texts_add(&session->notes.all, "capture",
                  "no window has opened, so nothing was recorded");
  if (!ppi_thread_has_membarrier())
    ppi_texts_add(&session->notes.all, "membarrier",
                  "missing: each marker executes a full fence");
  if (session->stuck)
    ppi_texts_add(&session->notes.all, "stuck",
                  "a thread was still inside a marker at stop");
  if (ppi_spool_num_lanes(spool_now()) > PPI_MAX_LANES - PPI_LANES_PER_CHUNK &&
      spool_now()->header->lost)
    ppi_texts_add(&session->notes.all, "threads",
                  "more were there at once than a session has rows for (4 096):"
                  " what the others marked is lost");
  note_start(session);
  if (ppi_inject_note())
    ppi_texts_add(&session->notes.all, "nvtx", ppi_inject_note());
  if (ppi_inject_foreign_note())
    ppi_texts_add(&session->notes.all, "nvtx deferred",
                  ppi_inject_foreign_note());
  ppi_waits_notes(&session->notes.all);
  const char *streams = ppi_inject_streams_note();
  if (streams) ppi_texts_add(&session->notes.all, "nvtx streams", streams);
}

static void finish(pprof_session *session) {
  ppi_spool *spool = spool_now();
  ppi_spool_header *header = spool->header;
  header->clamped = session->collect.placed.clamped;
  header->clock_error_ns = session->collect.placed.clock_error_ns;
  ppi_tee_settle(&session->tee);
  ppi_session_keep_error(
      session, ppi_tally_add(&session->drain.tally, 0, PPI_TOTAL_DEVICE_LOST,
                             session->collect.kernels.counts.dropped));
  publish_stats(session);
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane)
      ppi_session_keep_error(session,
                             ppi_totals_add_lane(&session->drain.tally, lane));
  }
  note_rest(session);
  session->drain.tally.more_cost_ns = session->collect.kernels.counts.cost_ns;
  pprof_totals totals = {.notes = session->notes.all.items,
                         .num_notes = session->notes.all.num};
  ppi_total *items = NULL;
  ppi_session_keep_error(session, ppi_totals_build(&session->drain.tally, spool,
                                                   &items, &totals.num_items));
  totals.items = items;
  ppi_session_keep_error(session,
                         session->tee.base.finish(&session->tee.base, &totals));
  ppi_free(items);
}

static void *collector_main(void *argument) {
  pprof_session *session = argument;
  ppi_wakeup *wakeup = &session->wakeup;
  pprof_run_info info = {session->info.items, session->info.num,
                         ppi_spool_staging(spool_now())};
  session->collect.edges_followed = 0;
  session->tee.base.begin(&session->tee.base, &info);
  uint64_t asked, answered = 0;
  while (!ppi_wakeup_look(wakeup, &asked)) {
    uint64_t due_ns = ppi_windows_due(session);
    bool delivered = cycle(session, asked != answered);
    if (delivered && asked != answered) {
      answered = asked;
      ppi_wakeup_answer(wakeup, asked);
    }
    // While a sink has no room, requests wait for the next interval, too.
    wait_for_work(session, delivered ? answered : asked, due_ns);
  }
  deliver_rest(session);
  // Batches buffered for sinks without room; devices have had their time.
  patience left = begin_patience(session);
  while (!ppi_session_have_room(session) && wait_a_little(&left)) {
  }
  finish(session);
  // Events are destroyed on the thread that made them.
  for (const pprof_device *d = ppi_device_list(); d && !session->stuck;
       d = d->next)
    if (d->session) ppi_resolve_release(d->session);
  return NULL;
}

pprof_status ppi_collector_start(pprof_session *session) {
  if (ppi_start_thread(&session->collect.thread, "pprof-collector",
                       collector_main, session) != 0)
    return PPROF_STATUS_NO_MEMORY;
  ppi_wakeup_ask(&session->wakeup, 1000);
  return PPROF_STATUS_OK;
}

void ppi_collector_stop(pprof_session *session) {
  ppi_wakeup_stop(&session->wakeup);
  pthread_join(session->collect.thread, NULL);
}
