// SPDX-License-Identifier: Apache-2.0
//
// Measures the host cost of a device range, push and pop, against two bare
// cuEventRecord on the same stream. Ranges come through calls that name their
// device and through the typed ones of cuda.h. Each thread has a stream of its
// own. A burst is small against the event pool and the launch queue, and drains
// outside the timed part. The same pause lies before each burst, and its first
// ranges are not timed, so that all kinds begin alike. The streams are idle, or
// a kernel holds their queue back. A third state has no ranges ahead of the
// timed part: after a pause, caches and driver are cold.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_bench.h"
#include "pprof/cuda.h"

enum {
  BURST = 64,
  AHEAD = 64,  // not timed
  MAX_THREADS = 4,
  POOLED_EVENTS = 4096,
  WARM_UP = 10,  // repetitions
  MAX_REPETITIONS = 400,
  PAUSE_US = 3000
};

typedef enum state { IDLE, BUSY, COLD, NUM_STATES } state;

// In the order in which they run in each repetition. POOLED is the least work
// of a profiler: two records, each with a check for graph capture and a clock
// read. Another thread reads the events later, so that many are used in turn.
typedef enum kind {
  BARE,
  SDK,
  BARE_AGAIN,
  TYPED,
  POOLED,
  RUNTIME,
  NUM_KINDS
} kind;

PPROF_SITE(site, "host", PPROF_CATEGORY_INFERENCE);

typedef struct bench {
  bench_run *run;
  int num_threads, repetitions;
  state state;
  bench_barrier barrier;
  bench_gate gate;
  bench_session session;
  uint64_t issued, lost_before;
  bool ok;
} bench;

typedef struct worker {
  bench *bench;
  int number;
  pthread_t thread;
  cudaStream_t stream;
  cudaEvent_t events[2 * (AHEAD + BURST)];
  cudaEvent_t pooled[POOLED_EVENTS];
  int pooled_at;      // where the burst begins
  uint64_t clock_ns;  // so that the reads are not optimised away
  double ns[NUM_KINDS][MAX_REPETITIONS];  // a pair
} worker;

static int record_pairs(const worker *self, bench_event_record record,
                        const cudaEvent_t *events, int num) {
  int error = 0;
  for (int i = 0; i < 2 * num; i++) error |= record(events[i], self->stream);
  return error;
}

static int record_pooled(worker *self, int first, int num) {
  const bench_run *run = self->bench->run;
  const cudaEvent_t *events = self->pooled + self->pooled_at + 2 * first;
  int error = 0;
  for (int i = 0; i < 2 * num; i++) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    error |= run->is_capturing(self->stream, &status);
    self->clock_ns += bench_now_ns();
    if (status == cudaStreamCaptureStatusNone)
      error |= run->record(events[i], self->stream);
  }
  return error;
}

// As a profiler's own thread does, once the events have passed.
static void *read_pooled(void *argument) {
  const worker *self = argument;
  const cudaEvent_t *events = self->pooled + self->pooled_at;
  bench_thread_begin();
  for (int i = 0; i < 2 * (AHEAD + BURST); i += 2) {
    float ms;
    BENCH_CHECK(cudaEventElapsedTime(&ms, events[i], events[i + 1]));
  }
  return NULL;
}

static void pass_pooled(worker *self) {
  pthread_t reader;
  if (self->bench->state != COLD) {
    if (pthread_create(&reader, NULL, read_pooled, self)) exit(1);
    pthread_join(reader, NULL);
  }
  self->pooled_at += 2 * (AHEAD + BURST);
  if (self->pooled_at >= POOLED_EVENTS) self->pooled_at = 0;
}

static int record_runtime(cudaEvent_t event, cudaStream_t stream) {
  return (int)cudaEventRecord(event, stream);
}

// Answers 0, or the error of a bare call. The kinds are inlined, as in a
// program.
static int run_burst(worker *self, kind k, int first, int num) {
  pprof_device *device = self->bench->run->device;
  cudaStream_t stream = self->stream;
  const cudaEvent_t *events = self->events + 2 * first;
  switch (k) {
    case BARE:
    case BARE_AGAIN:
      return record_pairs(self, self->bench->run->record, events, num);
    case SDK:
      for (int i = 0; i < num; i++) {
        pprof_device_push(device, stream, &site);
        pprof_device_pop(device, stream);
      }
      return 0;
    case TYPED:
      for (int i = 0; i < num; i++) {
        pprof_cuda_push(stream, &site);
        pprof_cuda_pop(stream);
      }
      return 0;
    case POOLED:
      return record_pooled(self, first, num);
    default:
      return record_pairs(self, record_runtime, events, num);
  }
}

// The streams are empty and all events are back in their pool when it returns.
static void drain(worker *self, kind k) {
  bench *b = self->bench;
  bench_barrier_wait(&b->barrier);
  if (self->number == 0) bench_gate_open(&b->gate);
  BENCH_CHECK(cudaStreamSynchronize(self->stream));
  if (k == POOLED) pass_pooled(self);
  if (self->number == 0 && (k == SDK || k == TYPED)) {
    b->issued += (uint64_t)(b->state == COLD ? BURST : AHEAD + BURST) *
                 (uint64_t)b->num_threads;
    if (!bench_session_wait(&b->session, b->issued)) b->ok = false;
  }
  bench_barrier_wait(&b->barrier);
}

static double time_burst(worker *self, kind k) {
  bench *b = self->bench;
  int error = 0;
  bench_sleep_us(PAUSE_US);
  if (b->state == BUSY) bench_gate_close(&b->gate, self->stream);
  bench_barrier_wait(&b->barrier);
  if (b->state != COLD) error |= run_burst(self, k, 0, AHEAD);
  uint64_t start = bench_now_ns();
  error |= run_burst(self, k, AHEAD, BURST);
  uint64_t ns = bench_now_ns() - start;
  bench_check((cudaError_t)error, "cuEventRecord");
  return (double)ns / BURST;
}

static void *work(void *argument) {
  worker *self = argument;
  bench *b = self->bench;
  bench_thread_begin();
  for (int i = -WARM_UP; i < b->repetitions; i++) {
    if (i == 0 && self->number == 0)
      b->lost_before = bench_session_lost(&b->session);
    for (kind k = 0; k < NUM_KINDS; k++) {
      double ns = time_burst(self, k);
      drain(self, k);
      if (!b->ok) return NULL;
      if (i >= 0) self->ns[k][i] = ns;
    }
  }
  return NULL;
}

static bool run_threads(bench *b, worker *workers) {
  for (int i = 0; i < b->num_threads; i++) {
    worker *self = &workers[i];
    *self = (worker){.bench = b, .number = i, .stream = bench_stream_create()};
    for (int k = 0; k < 2 * (AHEAD + BURST); k++)
      self->events[k] = bench_event_create();
    for (int k = 0; k < POOLED_EVENTS; k++)
      self->pooled[k] = bench_event_create();
    // Makes the events of the context before the first range.
    pprof_stream_name(b->run->device, self->stream, "host");
  }
  if (!bench_session_start(&b->session)) return false;
  for (int i = 0; i < b->num_threads; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(1);
  for (int i = 0; i < b->num_threads; i++)
    pthread_join(workers[i].thread, NULL);
  return bench_session_stop(&b->session) && b->ok;
}

static void release(bench *b, worker *workers) {
  for (int i = 0; i < b->num_threads; i++) {
    for (int k = 0; k < 2 * (AHEAD + BURST); k++)
      BENCH_CHECK(cudaEventDestroy(workers[i].events[k]));
    for (int k = 0; k < POOLED_EVENTS; k++)
      BENCH_CHECK(cudaEventDestroy(workers[i].pooled[k]));
    BENCH_CHECK(cudaStreamDestroy(workers[i].stream));
  }
  bench_gate_destroy(&b->gate);
  bench_session_destroy(&b->session);
}

// Each burst of `k` against the bare ones of its repetition; BARE_AGAIN, which
// is one of them, against the other. Over all threads.
static bench_values ratios_of(const bench *b, const worker *workers, kind k) {
  bench_values ratios = {0};
  for (int t = 0; t < b->num_threads; t++)
    for (int i = 0; i < b->repetitions; i++) {
      double before = workers[t].ns[BARE][i];
      double after = workers[t].ns[BARE_AGAIN][i];
      bench_values_add(&ratios, k == BARE_AGAIN ? after / before
                                                : 2 * workers[t].ns[k][i] /
                                                      (before + after));
    }
  return ratios;
}

static bench_values times_of(const bench *b, const worker *workers, kind k) {
  bench_values us = {0};
  for (int t = 0; t < b->num_threads; t++)
    for (int i = 0; i < b->repetitions; i++)
      bench_values_add(&us, workers[t].ns[k][i] / 1000);
  return us;
}

static double add_times(bench_row *row, const bench *b, const worker *workers,
                        kind k) {
  static const char *const names[NUM_KINDS] = {
      "cuEventRecord twice",
      "push and pop",
      "cuEventRecord twice, again",
      "push and pop, typed",
      "pooled, asking, clock, cuEventRecord, twice",
      "cudaEventRecord twice"};
  bench_values us = times_of(b, workers, k);
  double median = bench_median(us.at, us.num);
  bench_row_series(row, names[k], "us", &us);
  if (k == SDK || k == TYPED)
    bench_row_figure(row, "p90_us", bench_quantile(us.at, us.num, 0.9));
  if (k == POOLED) bench_row_figure(row, "pooled_us", median);
  if (k == RUNTIME) bench_row_figure(row, "runtime_us", median);
  bench_values_clear(&us);
  return median;
}

static void judge(bench_row *row, const bench *b, const worker *workers,
                  kind k) {
  const pprof_stats *stats = &b->session.stats;
  bench_values ratios = ratios_of(b, workers, k);
  bench_values again = ratios_of(b, workers, BARE_AGAIN);
  row->figure = bench_median(ratios.at, ratios.num);
  row->spread = bench_median(again.at, again.num);
  uint64_t lost = stats->lost - b->lost_before;
  bench_row_figure(row, "p95", bench_quantile(ratios.at, ratios.num, 0.95));
  bench_row_figure(row, "aa_p5", bench_quantile(again.at, again.num, 0.05));
  bench_row_figure(row, "aa_p95", bench_quantile(again.at, again.num, 0.95));
  bench_row_figure(row, "issued", (double)b->issued);
  bench_row_figure(row, "recorded", (double)stats->recorded);
  bench_row_figure(row, "lost_after_warm_up", (double)lost);
  if (b->state != COLD)
    bench_row_judge(row, "<= 1.15 x two cuEventRecord",
                    row->figure <= 1.15 && lost == 0 &&
                        stats->recorded + stats->lost == b->issued);
  bench_values_clear(&ratios);
  bench_values_clear(&again);
}

static void add_row(bench *b, const worker *workers, kind k) {
  static const char *const states[NUM_STATES] = {"idle", "busy", "cold"};
  static const char *const words[NUM_STATES] = {"idle streams", "busy streams",
                                                "after a pause"};
  char id[32], what[96];
  snprintf(id, sizeof id, "host_%s%d_%s", k == TYPED ? "typed_" : "",
           b->num_threads, states[b->state]);
  snprintf(what, sizeof what, "host cost%s, %d thread%s, %s",
           k == TYPED ? " by cuda.h" : "", b->num_threads,
           b->num_threads > 1 ? "s" : "", words[b->state]);
  bench_row *row = bench_row_add(&b->run->report, "host", id, what);
  row->unit = "us";
  row->control = add_times(row, b, workers, BARE);
  row->value = add_times(row, b, workers, k);
  if (k == SDK) {
    add_times(row, b, workers, BARE_AGAIN);
    add_times(row, b, workers, POOLED);
    add_times(row, b, workers, RUNTIME);
  }
  bench_row_figure(row, "over_control_us", row->value - row->control);
  judge(row, b, workers, k);
}

static bool measure(bench_run *run, int num_threads, state how) {
  bench b = {.run = run,
             .num_threads = num_threads,
             .repetitions = run->options.quick ? 50 : 200,
             .state = how,
             .barrier = {.num = (unsigned)num_threads},
             .gate = bench_gate_create(),
             .ok = true};
  worker *workers = calloc(MAX_THREADS, sizeof *workers);
  if (!workers) return bench_fail("out of memory");
  bool ok = run_threads(&b, workers);
  if (ok) {
    add_row(&b, workers, SDK);
    add_row(&b, workers, TYPED);
  }
  release(&b, workers);
  free(workers);
  return ok;
}

bool bench_part_host(bench_run *run) {
  for (state how = 0; how < NUM_STATES; how++)
    if (!measure(run, 1, how) || !measure(run, MAX_THREADS, how)) return false;
  return true;
}
