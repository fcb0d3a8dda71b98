// SPDX-License-Identifier: Apache-2.0
//
// Implements the cpu backend and its streams. A stream is an in-order queue
// with one worker thread; a device event is a node in that queue, stamped with
// CLOCK_MONOTONIC when its turn comes. An event that meets an idle stream is
// stamped by the thread that records it: nothing lies before it, and waking the
// worker would put a system call into the marker.
#include <pthread.h>

#include "backend_util.h"
#include "base/mem.h"
#include "base/start_thread.h"
#include "base/uncancelled.h"
#include "pprof/device.h"

#define CPU_POOL 0u  // all events are alike

typedef struct queue_node {
  struct queue_node *next;
  void (*run)(void *);  // NULL: the node is the head of a cpu_event
  void *argument;
} queue_node;

// IDLE and DONE belong to the caller, PENDING to the stream it is queued in.
// An event destroyed while PENDING becomes ORPHANED and is freed by the worker.
enum { EVENT_IDLE, EVENT_PENDING, EVENT_DONE, EVENT_ORPHANED };

typedef struct cpu_event {
  queue_node node;  // first, so that a node can be cast back
  uint32_t state;
  uint32_t generation;  // of the process that recorded it
  uint64_t time_ns;
} cpu_event;

struct pprof_cpu_stream {
  pthread_mutex_t lock;
  pthread_cond_t more;  // the worker waits here
  pthread_cond_t done;  // pprof_cpu_stream_synchronize waits here
  queue_node *head;
  queue_node **tail;
  uint64_t num_queued, num_done, num_waiting;
  bool running;  // a node was taken off and is not finished
  bool stop;
  uint32_t generation;
  uint64_t id;
  pthread_t worker;
};

static bool is_foreign(uint32_t generation) {
  return generation != ppi_backend_generation;
}

// Called with the lock held.
static void append(pprof_cpu_stream *stream, queue_node *node) {
  node->next = NULL;
  *stream->tail = node;
  stream->tail = &node->next;
  stream->num_queued++;
}

static queue_node *take(pprof_cpu_stream *stream) {
  queue_node *node = stream->head;
  stream->head = node->next;
  if (!stream->head) stream->tail = &stream->head;
  return node;
}

static void stamp(cpu_event *event) {
  event->time_ns = ppi_backend_now_ns();
  uint32_t state = EVENT_PENDING;
  // Release: a thread that reads DONE reads the time, too. After it the event
  // may be gone.
  if (!__atomic_compare_exchange_n(&event->state, &state, EVENT_DONE, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ppi_free(event);
}

static void run_node(queue_node *node) {
  if (!node->run) {
    stamp((cpu_event *)(void *)node);
    return;
  }
  node->run(node->argument);
  ppi_free(node);
}

static bool was_recorded_elsewhere(const cpu_event *event) {
  return is_foreign(__atomic_load_n(&event->generation, __ATOMIC_RELAXED));
}

static void *worker_main(void *argument) {
  pprof_cpu_stream *stream = argument;
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    while (!stream->head && !stream->stop)
      pthread_cond_wait(&stream->more, &stream->lock);
    if (!stream->head) break;
    queue_node *node = take(stream);
    stream->running = true;
    pthread_mutex_unlock(&stream->lock);
    run_node(node);
    pthread_mutex_lock(&stream->lock);
    stream->running = false;
    stream->num_done++;
    if (stream->num_waiting) pthread_cond_broadcast(&stream->done);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

static void free_stream(pprof_cpu_stream *stream) {
  pthread_cond_destroy(&stream->done);
  pthread_cond_destroy(&stream->more);
  pthread_mutex_destroy(&stream->lock);
  ppi_free(stream);
}

pprof_status pprof_cpu_stream_create(pprof_cpu_stream **out) {
  PPI_UNCANCELLED;
  static uint64_t last_id;
  ppi_backend_watch_fork();
  pprof_cpu_stream *stream = ppi_alloc(sizeof *stream);
  if (!stream) return PPROF_STATUS_NO_MEMORY;
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->more, NULL);
  pthread_cond_init(&stream->done, NULL);
  stream->tail = &stream->head;
  stream->generation = ppi_backend_generation;
  stream->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  if (!!ppi_start_thread(&stream->worker, "pprof-cpu", worker_main, stream)) {
    free_stream(stream);
    return PPROF_STATUS_NO_MEMORY;
  }
  *out = stream;
  return PPROF_STATUS_OK;
}

pprof_status pprof_cpu_stream_submit(pprof_cpu_stream *stream,
                                     void (*run)(void *), void *argument) {
  PPI_UNCANCELLED;
  if (!stream || !run) return PPROF_STATUS_INVALID;
  if (is_foreign(stream->generation)) return PPROF_STATUS_UNAVAILABLE;
  queue_node *node = ppi_alloc(sizeof *node);
  if (!node) return PPROF_STATUS_NO_MEMORY;
  node->run = run;
  node->argument = argument;
  pthread_mutex_lock(&stream->lock);
  // A worker that is awake looks into the queue again before it sleeps.
  bool asleep = !stream->head && !stream->running;
  append(stream, node);
  // Inside the lock: once it is free the work may run, and a thread that waited
  // for it may destroy the stream.
  if (asleep) pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->lock);
  return PPROF_STATUS_OK;
}

void pprof_cpu_stream_synchronize(pprof_cpu_stream *stream) {
  PPI_UNCANCELLED;
  // In a child nothing will ever finish, and the lock may stay taken forever.
  if (!stream || is_foreign(stream->generation)) return;
  pthread_mutex_lock(&stream->lock);
  uint64_t goal = stream->num_queued;
  stream->num_waiting++;
  while (stream->num_done < goal)
    pthread_cond_wait(&stream->done, &stream->lock);
  stream->num_waiting--;
  pthread_mutex_unlock(&stream->lock);
}

void pprof_cpu_stream_destroy(pprof_cpu_stream *stream) {
  PPI_UNCANCELLED;
  if (!stream) return;
  if (is_foreign(stream->generation)) {
    // The queue may have been copied in mid-change; its nodes stay.
    ppi_free(stream);
    return;
  }
  pthread_mutex_lock(&stream->lock);
  stream->stop = true;
  pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->worker, NULL);
  free_stream(stream);
}

static pprof_status cpu_open(int index, void **out_context,
                             pprof_error *error) {
  static char context;  // there is nothing to remember
  if (index != 0)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "cpu: there is no device %d; there is one, 0", index);
  ppi_backend_watch_fork();
  *out_context = &context;
  return PPROF_STATUS_OK;
}

static void cpu_close(void *context) {
  (void)context;
}

static pprof_status cpu_collector_enter(void *context) {
  (void)context;
  return PPROF_STATUS_OK;
}

static pprof_status cpu_stream_info(void *context, void *handle,
                                    pprof_stream_info *out) {
  (void)context;
  const pprof_cpu_stream *stream = handle;
  if (!stream) return PPROF_STATUS_INVALID;
  if (is_foreign(stream->generation)) return PPROF_STATUS_UNAVAILABLE;
  out->stable_id = stream->id;
  out->pool = CPU_POOL;
  out->capturing = false;
  return PPROF_STATUS_OK;
}

static void cpu_event_destroy(void *context, uint64_t pool, size_t num,
                              void **events) {
  (void)context;
  (void)pool;
  for (size_t i = 0; i < num; i++) {
    cpu_event *event = events[i];
    uint32_t state = EVENT_PENDING;
    if (__atomic_compare_exchange_n(&event->state, &state, EVENT_ORPHANED,
                                    false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) &&
        !was_recorded_elsewhere(event))
      continue;  // the worker frees it
    ppi_free(event);
  }
}

static pprof_status cpu_event_create(void *context, uint64_t pool, size_t num,
                                     void **out_events) {
  if (pool != CPU_POOL) return PPROF_STATUS_INVALID;
  for (size_t i = 0; i < num; i++) {
    out_events[i] = ppi_alloc(sizeof(cpu_event));
    if (out_events[i]) continue;
    cpu_event_destroy(context, pool, i, out_events);
    return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

// Makes the event ours. It fails for an event in a queue: a second link would
// tear both queues.
static bool claim(cpu_event *event) {
  uint32_t state = __atomic_load_n(&event->state, __ATOMIC_ACQUIRE);
  if (state == EVENT_PENDING && was_recorded_elsewhere(event)) {
    state = EVENT_IDLE;  // no worker of this process knows it
    __atomic_store_n(&event->state, EVENT_IDLE, __ATOMIC_RELAXED);
  }
  if (state != EVENT_IDLE && state != EVENT_DONE) return false;
  if (!__atomic_compare_exchange_n(&event->state, &state, EVENT_PENDING, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  __atomic_store_n(&event->generation, ppi_backend_generation,
                   __ATOMIC_RELAXED);
  return true;
}

static pprof_status cpu_event_record(void *context, void *handle,
                                     void *stream_handle) {
  (void)context;
  cpu_event *event = handle;
  pprof_cpu_stream *stream = stream_handle;
  if (!stream) return PPROF_STATUS_INVALID;
  if (is_foreign(stream->generation)) return PPROF_STATUS_UNAVAILABLE;
  if (!claim(event)) return PPROF_STATUS_BUSY;
  pthread_mutex_lock(&stream->lock);
  bool idle = !stream->head && !stream->running;
  // Stamped under the lock, so that no later node gets an earlier time.
  if (idle)
    stamp(event);
  else
    append(stream, &event->node);
  pthread_mutex_unlock(&stream->lock);
  return PPROF_STATUS_OK;
}

static pprof_status cpu_event_query(void *context, void *handle) {
  (void)context;
  const cpu_event *event = handle;
  if (__atomic_load_n(&event->state, __ATOMIC_ACQUIRE) != EVENT_PENDING)
    return PPROF_STATUS_OK;
  return was_recorded_elsewhere(event) ? PPROF_STATUS_DEVICE
                                       : PPROF_STATUS_BUSY;
}

static pprof_status event_time(const cpu_event *event, int64_t *out_ns) {
  uint32_t state = __atomic_load_n(&event->state, __ATOMIC_ACQUIRE);
  if (state == EVENT_PENDING) return PPROF_STATUS_BUSY;
  if (state != EVENT_DONE) return PPROF_STATUS_INVALID;
  *out_ns = (int64_t)event->time_ns;
  return PPROF_STATUS_OK;
}

static pprof_status cpu_event_elapsed(void *context, void *from, void *to,
                                      int64_t *out_ns) {
  (void)context;
  int64_t from_ns = 0, to_ns = 0;
  pprof_status status = from ? event_time(from, &from_ns) : PPROF_STATUS_OK;
  if (!status) status = event_time(to, &to_ns);
  if (!status) *out_ns = to_ns - from_ns;
  return status;
}

static pprof_status cpu_anchor(void *context, uint64_t pool,
                               pprof_anchor *out) {
  (void)context;
  cpu_event *event = out->event;
  if (pool != CPU_POOL || !event) return PPROF_STATUS_INVALID;
  if (!claim(event)) return PPROF_STATUS_BUSY;
  // The device's clock is the host's, so the bracket is two clock reads.
  out->host_before_ns = ppi_backend_now_ns();
  stamp(event);
  out->host_after_ns = ppi_backend_now_ns();
  out->device_ns = (int64_t)event->time_ns;
  return PPROF_STATUS_OK;
}

const pprof_backend *pprof_backend_cpu(void) {
  static const pprof_backend backend = {
      .size = sizeof(pprof_backend),
      .name = "cpu",
      .caps = PPROF_BACKEND_ABSOLUTE_TIME,
      .open = cpu_open,
      .close = cpu_close,
      .collector_enter = cpu_collector_enter,
      .stream_info = cpu_stream_info,
      .event_create = cpu_event_create,
      .event_destroy = cpu_event_destroy,
      .event_record = cpu_event_record,
      .event_query = cpu_event_query,
      .event_elapsed = cpu_event_elapsed,
      .anchor = cpu_anchor,
  };
  return &backend;
}
