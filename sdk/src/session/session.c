// SPDX-License-Identifier: Apache-2.0
//
// Implements the owner's side of a session: create, start, flush, stop.
#include <time.h>
#include <unistd.h>

#include "base/defaults.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/start_thread.h"
#include "base/uncancelled.h"
#include "inject/inject.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/mark_cost.h"
#include "mark/older.h"
#include "mark/range_slots.h"
#include "session/capture/capture_session.h"
#include "session/capture/windows.h"
#include "session/choice_session.h"
#include "session/collect/collector.h"
#include "session/session.h"
#include "session/state/current.h"
#include "spool/chunks.h"
#include "waits/waits.h"
#include "window/window_queue.h"

// Starts and stops come one after the other.
static struct {
  pthread_mutex_t mutex;
  uint32_t last_serial;
  void (*yield)(void);  // ends a running session for one that wants to start
} owner = {PTHREAD_MUTEX_INITIALIZER, 0, NULL};

// The child has neither the collector nor the spool. It may start its own
// session; the parent's object is dead weight there.
static void in_forked_child(void) {
  pthread_mutex_init(&owner.mutex, NULL);
  pprof_session *session = pprof_session_current();
  owner.yield = NULL;
  ppi_current_in_forked_child();
  ppi_device_in_forked_child();
  ppi_spool_in_forked_child();
  ppi_inject_in_forked_child();
  ppi_waits_in_forked_child();
  ppi_emit_in_forked_child();
  ppi_device_set_attach_hook(NULL);
  // A start under way on another thread has a spool, but no session yet.
  if (ppi_recorder_in_force.spool.base)
    ppi_spool_forget(&ppi_recorder_in_force.spool);
  if (session) {
    ppi_windows_in_forked_child(session);
    ppi_notes_in_forked_child(&session->notes);
  }
  // A signal handler that forks inside a marker returns to it.
  bool in_marker = ppi_thread_self && ppi_thread_self->busy;
  for (pprof_device *device = ppi_device_list(); device; device = device->next)
    if (device->session) ppi_resolve_detach(device->session, in_marker);
}

static void fill_defaults(pprof_options *options) {
  if (options->memory_limit_bytes == 0)
    options->memory_limit_bytes = (uint64_t)PPI_DEFAULT_MEMORY_MIB << 20;
  if (options->drain_interval_us == 0)
    options->drain_interval_us = PPI_DEFAULT_DRAIN_MS * 1000u;
  if (options->stop_wait_ms == 0)
    options->stop_wait_ms = PPI_DEFAULT_STOP_WAIT_S * 1000u;
}

pprof_status pprof_session_create(const pprof_options *options,
                                  pprof_session **out, pprof_error *error) {
  PPI_UNCANCELLED;
  if (!out) return ppi_fail(error, PPROF_STATUS_INVALID, "out is NULL");
  pprof_options known = {.size = sizeof known};
  if (options && !ppi_copy_options(&known, sizeof known, options))
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "pprof_options.size is %zu: set it to "
                    "sizeof(pprof_options), and bytes this version does not "
                    "know to zero",
                    options->size);
  pprof_session *session = ppi_alloc(sizeof *session);
  if (!session) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  fill_defaults(&known);
  if (known.spool_dir && !(known.spool_dir = ppi_strdup(known.spool_dir))) {
    ppi_free(session);
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  session->settings.options = known;
  ppi_tee_init(&session->tee);
  pthread_mutex_init(&session->windows.mutex, NULL);
  ppi_notes_init(&session->notes);
  ppi_wakeup_init(&session->wakeup);
  *out = session;
  return PPROF_STATUS_OK;
}

pprof_status pprof_session_add_sink(pprof_session *session, pprof_sink *sink) {
  PPI_UNCANCELLED;
  if (!session || !sink) return PPROF_STATUS_INVALID;
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  return ppi_tee_add(&session->tee, sink);
}

void ppi_session_set_yield(void (*yield)(void)) {
  __atomic_store_n(&owner.yield, yield, __ATOMIC_RELEASE);
}

static void fill_header(pprof_session *session) {
  ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  const uint64_t uuid[] = {ppi_random64(), ppi_random64()};
  memcpy(header->uuid, uuid, sizeof uuid);
  header->clock_mode = ppi_clock_state.mode;
  header->ticks_per_second = ppi_clock_state.ticks_per_second;
  session->first_sample = ppi_clock_take_sample();
  header->start_ticks = session->first_sample.ticks;
  header->last_ticks = header->start_ticks;
  header->start_realtime_ns = session->first_sample.realtime_ns;
  header->own_cost_ns_x1000 = ppi_mark_cost_x1000();
}

static bool publish_info(pprof_session *session) {
  ppi_names *names = ppi_recorder_in_force.names;
  const ppi_texts *given = &session->settings.info;
  if (!ppi_run_info_collect(&session->info, &ppi_recorder_in_force.spool) ||
      !ppi_texts_join(&session->info, given->items, given->num))
    return false;
  for (size_t i = 0; i < session->info.num; i++)
    ppi_names_text(names, PPI_DEFINITION_INFO, session->info.items[i].key,
                   session->info.items[i].value);
  if (!ppi_notes_open(&session->notes)) return false;
  pprof_definition process = {PPROF_DEFINITION_LANE, 0, 0, 0, 0, "process"};
  return ppi_names_define(names, &process);
}

// Prepares everything that markers need, before there is an epoch.
static pprof_status prepare(pprof_session *session) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  pprof_status status = ppi_spool_create(
      &recorder->spool, session->settings.options.memory_limit_bytes,
      session->settings.options.spool_dir);
  if (status != PPROF_STATUS_OK) return status;
  if (!ppi_spool_add_ring(&recorder->spool, session->settings.ring_bytes) &&
      session->settings.ring_bytes)
    ppi_texts_add(&session->notes.all, "flight",
                  "no room for its ring in the spool: a kill loses it");
  ppi_spool_touch_ahead(&recorder->spool, 64);
  // A stuck session left these names; its markers are over by now.
  ppi_names_destroy(recorder->names);
  recorder->names = NULL;
  status = ppi_names_create(&recorder->spool, &recorder->names);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_choice_begin(session->choice, recorder->names,
                            recorder->spool.header);
  if (status != PPROF_STATUS_OK) return status;
  uint32_t chunks = recorder->spool.header->num_chunks;
  recorder->ranges = ppi_table_create(&recorder->spool, 0, 0, 1, chunks / 16);
  if (!recorder->ranges) return PPROF_STATUS_NO_MEMORY;
  ppi_range_slots_begin();
  ppi_capture_watch(recorder);
  fill_header(session);
  ppi_spool_publish(&recorder->spool);
  if (!publish_info(session)) return PPROF_STATUS_NO_MEMORY;
  status =
      ppi_drain_init(&session->drain, &recorder->spool, &session->tee.base);
  if (status != PPROF_STATUS_OK) return status;
  session->drain.names = recorder->names;
  session->collect.cursors =
      ppi_alloc(PPI_MAX_LANES * sizeof *session->collect.cursors);
  session->collect.range_seqs =
      ppi_alloc(PPI_TABLE_SLOTS * sizeof *session->collect.range_seqs);
  return session->collect.cursors && session->collect.range_seqs
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static void release(pprof_session *session) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  recorder->serial = 0;
  recorder->emits = 0;
  // A marker that never left may go on using these; start waits for it.
  if (!session->stuck) {
    ppi_names_destroy(recorder->names);
    recorder->names = NULL;
    recorder->ranges = NULL;
  }
  ppi_spool_destroy(&recorder->spool, session->stuck);
  ppi_drain_clear(&session->drain);
  PPI_FREE_ALL(session->collect.cursors, session->collect.range_seqs,
               session->collect.open.events);
  ppi_kernels_clear(&session->collect.kernels);
  session->collect.cursors = NULL;
  session->collect.range_seqs = NULL;
  session->collect.open = (ppi_open_list){0};
}

// Waits for a thread that is inside a marker when the epoch ends, but not
// forever: it may have been stopped there.
static bool wait_until_quiet(uint32_t wait_ms) {
  ppi_thread_barrier();
  uint64_t end = ppi_clock_monotonic_ns() + wait_ms * 1000000ull;
  for (int i = 0; ppi_thread_num_busy() != 0; i++) {
    if (i > 100 && ppi_clock_monotonic_ns() > end) return false;
    struct timespec pause = {0, 50000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  }
  return true;
}

// As in a marker: busy while it uses the session, so that a stop waits for it.
static void attach_devices_now(void) {
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || ppi_is_inside(thread)) return;
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE))
    ppi_wakeup_ask(&pprof_session_current()->wakeup, 200);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

// A start that failed may be tried again.
static void forget_start(pprof_session *session) {
  ppi_notes_forget(&session->notes);
  ppi_texts_clear(&session->info);
  pthread_mutex_lock(&session->windows.mutex);
  ppi_windows_forget(session);
  pthread_mutex_unlock(&session->windows.mutex);
}

static pprof_status start_locked(pprof_session *session) {
  if (pprof_session_current() || session->phase != PPI_SESSION_CREATED)
    return PPROF_STATUS_BUSY;
  ppi_clock_init();
  ppi_thread_sleep(NULL);
  // A marker that outlasted the last stop still uses that session's memory.
  if (!wait_until_quiet(session->settings.options.stop_wait_ms))
    return PPROF_STATUS_BUSY;
  // Threads that were waited for need no waking.
  if (!ppi_thread_is_waking()) ppi_epoch_publish(0);
  ppi_thread_forget_lanes();
  session->pid = (uint32_t)getpid();
  pprof_status status = prepare(session);
  if (status == PPROF_STATUS_OK) {
    if (++owner.last_serial % 65536 == 0) owner.last_serial++;
    ppi_recorder_in_force.serial = owner.last_serial;
    ppi_recorder_in_force.emits = ppi_emit_begin();
    ppi_windows_begin(session);
    session->collect.kernels.by_capture = session->settings.by_capture;
    session->collect.kernels.all_calls = session->settings.all_calls;
    if (session->settings.kernels_are_on)
      ppi_kernels_start(&session->collect.kernels, session->settings.kernels);
    status = ppi_collector_start(session);
  }
  if (status != PPROF_STATUS_OK) {
    release(session);
    forget_start(session);
    return status;
  }
  session->phase = PPI_SESSION_RUNNING;
  ppi_current_set(session);
  ppi_older_list();
  ppi_windows_publish(session);
  ppi_device_set_attach_hook(attach_devices_now);
  return PPROF_STATUS_OK;
}

pprof_status pprof_session_start(pprof_session *session) {
  PPI_UNCANCELLED;
  if (!session) return PPROF_STATUS_INVALID;
  if (ppi_window_completing()) return PPROF_STATUS_BUSY;
  ppi_thread_look();
  void (*yield)(void) = __atomic_load_n(&owner.yield, __ATOMIC_ACQUIRE);
  pprof_session *running = pprof_session_current();
  if (yield && running && running != session) yield();
  // A fork while this thread starts the first one finds its handler.
  pprof_status status = ppi_thread_init();
  if (status != PPROF_STATUS_OK) return status;
  ppi_thread_set_fork_handler(in_forked_child);
  pthread_mutex_lock(&owner.mutex);
  status = start_locked(session);
  pthread_mutex_unlock(&owner.mutex);
  return status;
}

static void notify_failure(const pprof_session *session, pprof_error *error) {
  char text[sizeof error->text];
  for (size_t i = 0; i < session->tee.num_sinks; i++) {
    if (!ppi_tee_describe_missed(&session->tee, i, text, sizeof text)) continue;
    ppi_fail(error, session->result, "%s", text);
    return;
  }
  if (session->result == PPROF_STATUS_NO_MEMORY)
    ppi_fail(error, session->result, "%s",
             ppi_describe_no_memory(text, sizeof text));
  else
    ppi_fail(error, session->result, "a sink failed: %s",
             pprof_status_string(session->result));
}

static pprof_status stop_locked(pprof_session *session, pprof_error *error) {
  if (session->phase != PPI_SESSION_RUNNING) return PPROF_STATUS_OK;
  if (session->pid != (uint32_t)getpid()) return PPROF_STATUS_OK;
  ppi_device_set_attach_hook(NULL);
  ppi_windows_end(session);
  session->stuck = !wait_until_quiet(session->settings.options.stop_wait_ms);
  ppi_collector_stop(session);
  ppi_emit_finish();
  ppi_thread_close_files();
  for (pprof_device *device = ppi_device_list(); device; device = device->next)
    if (device->session) ppi_resolve_detach(device->session, session->stuck);
  release(session);
  session->phase = PPI_SESSION_STOPPED;
  ppi_current_set(NULL);
  // If a jump left the marker, the thread's next marker finds that.
  if (session->stuck) ppi_epoch_wake();
  if (session->result != PPROF_STATUS_OK) notify_failure(session, error);
  return session->result;
}

pprof_status pprof_session_stop(pprof_session *session, pprof_error *error) {
  PPI_UNCANCELLED;
  if (!session) return PPROF_STATUS_INVALID;
  if (ppi_window_completing()) return PPROF_STATUS_BUSY;
  ppi_thread_look();
  pthread_mutex_lock(&owner.mutex);
  pprof_status status = stop_locked(session, error);
  pthread_mutex_unlock(&owner.mutex);
  return status;
}

void pprof_session_destroy(pprof_session *session) {
  PPI_UNCANCELLED;
  if (!session) return;
  // Inside a window's callback: its caller goes on using the session.
  if (session->phase == PPI_SESSION_RUNNING && ppi_window_completing()) return;
  pprof_session_stop(session, NULL);
  // In a forked child the sinks' files and threads are the parent's.
  bool ours = session->pid == 0 || session->pid == (uint32_t)getpid();
  if (ours) ppi_tee_destroy_sinks(&session->tee);
  ppi_texts_clear(&session->info);
  ppi_texts_clear(&session->settings.info);
  ppi_notes_clear(&session->notes);
  if (ours) {
    pthread_mutex_destroy(&session->windows.mutex);
    pthread_mutex_destroy(&session->notes.mutex);
    ppi_wakeup_destroy(&session->wakeup);
  }
  ppi_choice_destroy(session->choice);
  ppi_free((char *)session->settings.options.spool_dir);
  ppi_free(session);
}

pprof_status pprof_session_flush(pprof_session *session) {
  PPI_UNCANCELLED;
  if (!session || session->phase == PPI_SESSION_CREATED)
    return PPROF_STATUS_INVALID;
  if (session->phase == PPI_SESSION_STOPPED) return session->result;
  if (session->pid != (uint32_t)getpid()) return PPROF_STATUS_INVALID;
  pprof_status status =
      ppi_wakeup_ask(&session->wakeup, session->settings.options.stop_wait_ms);
  return status == PPROF_STATUS_OK
             ? __atomic_load_n(&session->tee.first_error, __ATOMIC_ACQUIRE)
             : status;
}
