// SPDX-License-Identifier: Apache-2.0
//
// A backend of one's own. The device is a pool of worker threads with a clock
// of its own (not the host's); its streams are strands. The jobs of a strand
// run in order, each on any free worker. The backend shows pprof how to put a
// time stamp into a strand, and how the two clocks relate.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pprof/pprof.h"

enum { NUM_WORKERS = 2, NUM_STRANDS = 3, NUM_ROUNDS = 16, SIZE = 128 };

struct job {
  struct job *next;
  void (*run)(void *argument);  // NULL: the head of a stamp
  void *argument;
};

// An event of pprof's: a job that notes the time. It may be destroyed while
// it waits in a strand; then whoever takes it off frees it.
struct stamp {
  struct job job;
  bool waiting, destroyed;
  int64_t device_ns;
};

struct strand {
  struct strand *next_ready;
  struct job *first, **last;
  uint64_t id, num_unfinished;
  bool busy;  // a worker has it, or it is in the ready list
};

// One lock guards all strands and stamps; it is held for a few instructions.
static struct pool {
  pthread_mutex_t mutex;
  pthread_cond_t more, idle;
  struct strand *ready, **last_ready;
  pthread_t workers[NUM_WORKERS];
  bool stopping;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .more = PTHREAD_COND_INITIALIZER,
          .idle = PTHREAD_COND_INITIALIZER,
          .last_ready = &pool.ready};

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// The device's clock: another rate and another zero than the host's.
static int64_t device_now_ns(void) {
  return (int64_t)clock_ns(CLOCK_MONOTONIC_RAW) - 1000000000;
}

// The pool's lock is held by the callers of these three.
static void make_ready(struct strand *strand) {
  strand->busy = true;
  strand->next_ready = NULL;
  *pool.last_ready = strand;
  pool.last_ready = &strand->next_ready;
  pthread_cond_signal(&pool.more);
}

static void append(struct strand *strand, struct job *job) {
  job->next = NULL;
  *strand->last = job;
  strand->last = &job->next;
  strand->num_unfinished++;
  if (!strand->busy) make_ready(strand);
}

static void finish(struct strand *strand, struct job *job) {
  struct stamp *stamp = job->run ? NULL : (struct stamp *)job;
  if (stamp) {
    stamp->device_ns = device_now_ns();
    stamp->waiting = false;
  }
  if (!stamp || stamp->destroyed) free(job);
  strand->busy = false;
  if (--strand->num_unfinished == 0) pthread_cond_broadcast(&pool.idle);
  if (strand->first) make_ready(strand);
}

static void *worker_main(void *unused) {
  pthread_mutex_lock(&pool.mutex);
  for (;;) {
    while (!pool.ready && !pool.stopping)
      pthread_cond_wait(&pool.more, &pool.mutex);
    struct strand *strand = pool.ready;
    if (!strand) break;
    pool.ready = strand->next_ready;
    if (!pool.ready) pool.last_ready = &pool.ready;
    struct job *job = strand->first;
    strand->first = job->next;
    if (!strand->first) strand->last = &strand->first;
    pthread_mutex_unlock(&pool.mutex);
    if (job->run) job->run(job->argument);
    pthread_mutex_lock(&pool.mutex);
    finish(strand, job);
  }
  pthread_mutex_unlock(&pool.mutex);
  return unused;
}

static bool submit(struct strand *strand, void (*run)(void *), void *argument) {
  struct job *job = malloc(sizeof(*job));
  if (!job) return false;
  *job = (struct job){NULL, run, argument};
  pthread_mutex_lock(&pool.mutex);
  append(strand, job);
  pthread_mutex_unlock(&pool.mutex);
  return true;
}

static void wait_for(struct strand *strand) {
  pthread_mutex_lock(&pool.mutex);
  while (strand->num_unfinished) pthread_cond_wait(&pool.idle, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
}

// From here on, what pprof asks of a backend.

static pprof_status pool_open(int index, void **out_context,
                              pprof_error *error) {
  if (index != 0) {
    snprintf(error->text, sizeof(error->text), "pool: there is no device %d",
             index);
    return PPROF_STATUS_UNAVAILABLE;
  }
  *out_context = &pool;
  return PPROF_STATUS_OK;
}

static void pool_close(void *context) {
  (void)context;
}

static pprof_status pool_collector_enter(void *context) {
  (void)context;
  return PPROF_STATUS_OK;
}

static pprof_status pool_stream_info(void *context, void *stream,
                                     pprof_stream_info *out) {
  const struct strand *strand = stream;
  (void)context;
  out->stable_id = strand->id;
  out->pool = 0;  // one kind of event serves all strands
  out->capturing = false;
  return PPROF_STATUS_OK;
}

static void pool_event_destroy(void *context, uint64_t event_pool, size_t num,
                               void **events) {
  (void)context;
  (void)event_pool;
  pthread_mutex_lock(&pool.mutex);
  for (size_t i = 0; i < num; i++) {
    struct stamp *stamp = events[i];
    stamp->destroyed = true;
    if (!stamp->waiting) free(stamp);
  }
  pthread_mutex_unlock(&pool.mutex);
}

static pprof_status pool_event_create(void *context, uint64_t event_pool,
                                      size_t num, void **out_events) {
  for (size_t i = 0; i < num; i++) {
    out_events[i] = calloc(1, sizeof(struct stamp));
    if (out_events[i]) continue;
    pool_event_destroy(context, event_pool, i, out_events);
    return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static pprof_status pool_event_record(void *context, void *event,
                                      void *stream) {
  struct stamp *stamp = event;
  (void)context;
  pthread_mutex_lock(&pool.mutex);
  stamp->waiting = true;
  append(stream, &stamp->job);
  pthread_mutex_unlock(&pool.mutex);
  return PPROF_STATUS_OK;
}

static pprof_status pool_event_query(void *context, void *event) {
  const struct stamp *stamp = event;
  (void)context;
  pthread_mutex_lock(&pool.mutex);
  bool waiting = stamp->waiting;
  pthread_mutex_unlock(&pool.mutex);
  return waiting ? PPROF_STATUS_BUSY : PPROF_STATUS_OK;
}

static pprof_status pool_event_elapsed(void *context, void *from, void *to,
                                       int64_t *out_ns) {
  const struct stamp *begin = from, *end = to;
  (void)context;
  *out_ns = end->device_ns - (begin ? begin->device_ns : 0);
  return PPROF_STATUS_OK;
}

// The device's clock can be read at any time, so its event need not travel
// through a strand.
static pprof_status pool_anchor(void *context, uint64_t event_pool,
                                pprof_anchor *out) {
  struct stamp *stamp = out->event;
  (void)context;
  (void)event_pool;
  out->host_before_ns = clock_ns(CLOCK_MONOTONIC);
  out->device_ns = device_now_ns();
  out->host_after_ns = clock_ns(CLOCK_MONOTONIC);
  stamp->device_ns = out->device_ns;
  return PPROF_STATUS_OK;
}

static const pprof_backend pool_backend = {
    .size = sizeof(pprof_backend),
    .name = "pool",
    .caps = PPROF_BACKEND_ABSOLUTE_TIME,
    .open = pool_open,
    .close = pool_close,
    .collector_enter = pool_collector_enter,
    .stream_info = pool_stream_info,
    .event_create = pool_event_create,
    .event_destroy = pool_event_destroy,
    .event_record = pool_event_record,
    .event_query = pool_event_query,
    .event_elapsed = pool_event_elapsed,
    .anchor = pool_anchor,
};

// And the program that uses the device: powers of a matrix, one per strand.

struct power {
  struct strand strand;
  double base[SIZE][SIZE], now[SIZE][SIZE], next[SIZE][SIZE];
};

static void multiply(void *argument) {
  struct power *power = argument;
  memset(power->next, 0, sizeof(power->next));
  for (int i = 0; i < SIZE; i++)
    for (int k = 0; k < SIZE; k++)
      for (int j = 0; j < SIZE; j++)
        power->next[i][j] += power->now[i][k] * power->base[k][j];
  memcpy(power->now, power->next, sizeof(power->now));
}

// Rows of a stochastic matrix add up to one, and so do those of its powers.
static bool is_stochastic(const struct power *power) {
  for (int i = 0; i < SIZE; i++) {
    double sum = 0;
    for (int j = 0; j < SIZE; j++) sum += power->now[i][j];
    if (!(sum > 1 - 1e-9 && sum < 1 + 1e-9)) return false;
  }
  return true;
}

static void power_init(struct power *power, uint64_t id) {
  power->strand.last = &power->strand.first;
  power->strand.id = id;
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++)
      power->base[i][j] = power->now[i][j] =
          2.0 * (double)((i + j + (int)id) % SIZE) / (SIZE * (SIZE - 1.0));
}

static bool run_device(struct power *powers) {
  pprof_device *device = pprof_device_get(&pool_backend, 0);
  bool good = true;
  for (int round = 0; round < NUM_ROUNDS; round++) {
    PPROF_SCOPE_CAT("submit", PPROF_CATEGORY_INFERENCE);
    for (int i = 0; i < NUM_STRANDS && good; i++) {
      PPROF_DEVICE_SCOPE(device, &powers[i].strand, "multiply");
      good = submit(&powers[i].strand, multiply, &powers[i]);
    }
  }
  PPROF_SCOPE("wait");
  for (int i = 0; i < NUM_STRANDS; i++) {
    wait_for(&powers[i].strand);
    good = good && is_stochastic(&powers[i]);
  }
  return good;
}

static void stop_workers(int num_started) {
  pthread_mutex_lock(&pool.mutex);
  pool.stopping = true;
  pthread_cond_broadcast(&pool.more);
  pthread_mutex_unlock(&pool.mutex);
  for (int i = 0; i < num_started; i++) pthread_join(pool.workers[i], NULL);
}

static bool run_all(struct power *powers) {
  int num_started = 0;
  for (uint64_t i = 0; i < NUM_STRANDS; i++) power_init(&powers[i], i + 1);
  while (num_started < NUM_WORKERS &&
         pthread_create(&pool.workers[num_started], NULL, worker_main, NULL) ==
             0)
    num_started++;
  bool good = num_started > 0 && run_device(powers);
  stop_workers(num_started);
  return good;
}

// A session of one's own, with a report instead of a log.
static pprof_status record(pprof_session *session, pprof_report *report,
                           struct power *powers, bool *out_good) {
  pprof_error error = {""};
  pprof_status status =
      pprof_session_add_sink(session, pprof_report_sink(report));
  if (status == PPROF_STATUS_OK) status = pprof_session_start(session);
  if (status != PPROF_STATUS_OK) return status;
  *out_good = run_all(powers);
  status = pprof_session_stop(session, &error);
  if (status != PPROF_STATUS_OK)
    fprintf(stderr, "custom_backend: %s\n", error.text);
  return status;
}

int main(void) {
  pprof_options options = {.size = sizeof(options)};
  pprof_session *session = NULL;
  pprof_report *report = NULL;
  pprof_error error = {""};
  bool good = false;
  struct power *powers = calloc(NUM_STRANDS, sizeof(*powers));
  if (powers && pprof_report_create(&report) == PPROF_STATUS_OK &&
      pprof_session_create(&options, &session, &error) == PPROF_STATUS_OK &&
      record(session, report, powers, &good) == PPROF_STATUS_OK)
    good = good &&
           pprof_report_write_table(report, NULL, stdout) == PPROF_STATUS_OK;
  else
    good = false;
  if (!good) fprintf(stderr, "custom_backend: failed %s\n", error.text);
  if (session) pprof_session_destroy(session);
  if (report) pprof_report_destroy(report);
  free(powers);
  return good ? 0 : 1;
}
