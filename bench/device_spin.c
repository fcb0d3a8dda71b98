// SPDX-License-Identifier: Apache-2.0
//
// Times kernels of known length, by their own %globaltimer, on 1 to 8 streams
// fed by 1 to 4 threads. A range and a bare event pair around the same kernel
// would measure each other's events, so they take turns on the same stream. The
// benchmark compares their excess over the kernel's own time.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_bench.h"
#include "device_kernels.h"

enum {
  MAX_THREADS = 4,
  MAX_STREAMS = 8,
  LENGTHS = 5,
  MAX_ROUNDS = 60,
  MAX_OPS = MAX_STREAMS * 2 * LENGTHS * MAX_ROUNDS
};

static const unsigned lengths_us[LENGTHS] = {2, 10, 50, 200, 1000};

PPROF_SITE(site, "spin", PPROF_CATEGORY_INFERENCE);

// One kernel; `us` is its time by events or by pprof.
typedef struct op {
  int length;
  int turn;  // 0 or 1: two halves for A/A
  bool is_sdk;
  double us;
  uint64_t own_ns;
} op;

// Threads that share a stream take turns, kernel by kernel, so that a range
// holds its own kernel only.
typedef struct lane {
  cudaStream_t stream;
  pthread_mutex_t mutex;
  op ops[MAX_OPS / MAX_STREAMS * 4];
  size_t num_ops, num_read;  // num_read: ops with events already read
  cudaEvent_t events[MAX_THREADS * 2 * 2 * LENGTHS];
  uint64_t *own_ns;  // device memory, by op
  bench_gate gate;
} lane;

typedef struct bench {
  bench_run *run;
  int num_threads, num_streams, rounds;
  lane *lanes;
  bench_session session;
  bench_barrier barrier;
  uint64_t issued;
  bool ok;
} bench;

typedef struct worker {
  bench *bench;
  int number;
  pthread_t thread;
} worker;

enum { LANE_OPS = sizeof((lane){0}.ops) / sizeof(op) };

static void submit(const bench *b, lane *l, int length, bool is_sdk) {
  pthread_mutex_lock(&l->mutex);
  size_t at = l->num_ops++;
  size_t pair = 2 * (at - l->num_read);
  l->ops[at] =
      (op){.length = length, .turn = (int)(at / 4 % 2), .is_sdk = is_sdk};
  if (is_sdk)
    pprof_device_push(b->run->device, l->stream, &site);
  else
    bench_record(b->run, l->events[pair], l->stream);
  bench_launch_spin(l->stream, lengths_us[length] * UINT64_C(1000),
                    l->own_ns + at);
  if (is_sdk)
    pprof_device_pop(b->run->device, l->stream);
  else
    bench_record(b->run, l->events[pair + 1], l->stream);
  pthread_mutex_unlock(&l->mutex);
}

static void read_events(bench *b, lane *l) {
  BENCH_CHECK(cudaStreamSynchronize(l->stream));
  for (size_t at = l->num_read; at < l->num_ops; at++) {
    size_t pair = 2 * (at - l->num_read);
    if (l->ops[at].is_sdk)
      b->issued++;
    else
      l->ops[at].us = bench_elapsed_us(l->events[pair], l->events[pair + 1]);
  }
  l->num_read = l->num_ops;
}

// One kernel of each length for each of the two, on each stream of the thread.
static void submit_round(const worker *self, int round) {
  bench *b = self->bench;
  int step = b->num_threads;
  for (int s = self->number % b->num_streams; s < b->num_streams; s += step)
    for (int i = 0; i < LENGTHS; i++) {
      submit(b, &b->lanes[s], i, round % 2 == 0);
      submit(b, &b->lanes[s], i, round % 2 != 0);
    }
}

static void *work(void *argument) {
  worker *self = argument;
  bench *b = self->bench;
  bench_thread_begin();
  for (int round = 0; round < b->rounds && b->ok; round++) {
    if (self->number == 0)
      for (int s = 0; s < b->num_streams; s++)
        bench_gate_close(&b->lanes[s].gate, b->lanes[s].stream);
    bench_barrier_wait(&b->barrier);
    submit_round(self, round);
    bench_barrier_wait(&b->barrier);
    if (self->number == 0) {
      for (int s = 0; s < b->num_streams; s++)
        bench_gate_open(&b->lanes[s].gate);
      for (int s = 0; s < b->num_streams; s++) read_events(b, &b->lanes[s]);
      b->ok = bench_session_wait(&b->session, b->issued);
    }
    bench_barrier_wait(&b->barrier);
  }
  return NULL;
}

static bool run_threads(bench *b) {
  worker workers[MAX_THREADS];
  if (!bench_session_start(&b->session)) return false;
  for (int i = 0; i < b->num_threads; i++) {
    workers[i] = (worker){.bench = b, .number = i};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(1);
  }
  for (int i = 0; i < b->num_threads; i++)
    pthread_join(workers[i].thread, NULL);
  return bench_session_stop(&b->session) && b->ok;
}

static int compare_start(const void *a, const void *b) {
  const bench_event *x = a, *y = b;
  return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

// The ranges of a stream, in the order of their submission, are its kernels.
static bool read_ranges(bench *b) {
  bench_capture *capture = b->session.capture;
  size_t next[MAX_STREAMS] = {0};
  qsort(capture->events, capture->num_kept, sizeof *capture->events,
        compare_start);
  for (size_t i = 0; i < capture->num_kept; i++) {
    const bench_event *event = &capture->events[i];
    int s = bench_stream_number(capture, event);
    if (s < 0 || s >= b->num_streams) return false;
    lane *l = &b->lanes[s];
    while (next[s] < l->num_ops && !l->ops[next[s]].is_sdk) next[s]++;
    if (next[s] == l->num_ops) return false;
    l->ops[next[s]++].us =
        (double)(event->device_end_ns - event->device_start_ns) / 1000;
  }
  return true;
}

static void read_own_times(lane *l) {
  uint64_t *own = calloc(LANE_OPS, sizeof *own);
  if (!own) exit(1);
  BENCH_CHECK(cudaMemcpy(own, l->own_ns, l->num_ops * sizeof *own,
                         cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < l->num_ops; i++) l->ops[i].own_ns = own[i];
  free(own);
}

// By how much events, or ranges, read more than the kernels took. -1: kernels
// of all lengths, of both turns.
static bench_values excess_of(const bench *b, bool is_sdk, int length,
                              int turn) {
  bench_values us = {0};
  for (int s = 0; s < b->num_streams; s++)
    for (size_t i = 0; i < b->lanes[s].num_ops; i++) {
      const op *o = &b->lanes[s].ops[i];
      if (o->is_sdk == is_sdk && (length < 0 || o->length == length) &&
          (turn < 0 || o->turn == turn))
        bench_values_add(&us, o->us - (double)o->own_ns / 1000);
    }
  return us;
}

static double median_excess(const bench *b, bool is_sdk, int length, int turn) {
  bench_values excess = excess_of(b, is_sdk, length, turn);
  double median = bench_median(excess.at, excess.num);
  bench_values_clear(&excess);
  return median;
}

static double allowed_us(int length) {
  return fmax(2, 0.01 * lengths_us[length]);
}

// Adds each op's deviation from the median of bare pairs of its length, as a
// part of the allowed deviation and in us.
static void add_deviations(const bench *b, bool is_sdk, bench_values *parts,
                           bench_values *us) {
  for (int i = 0; i < LENGTHS; i++) {
    bench_values excess = excess_of(b, is_sdk, i, -1);
    double median = median_excess(b, false, i, -1);
    for (size_t k = 0; k < excess.num; k++) {
      bench_values_add(us, fabs(excess.at[k] - median));
      bench_values_add(parts, fabs(excess.at[k] - median) / allowed_us(i));
    }
    bench_values_clear(&excess);
  }
}

// Shares that differ by less than this do so by chance.
static double three_sigma(double a, double b, size_t num) {
  double p = (a + b) / 2;
  return 3 * sqrt(2 * p * (1 - p) / (double)num);
}

// Adds the shares of ranges and of bare pairs that are within; true when the
// ranges' is not the smaller one.
static bool compare_shares(bench_row *row, const bench *b) {
  bench_values parts[2] = {{0}, {0}}, us[2] = {{0}, {0}};
  double share[2];
  for (int is_sdk = 0; is_sdk < 2; is_sdk++) {
    add_deviations(b, is_sdk, &parts[is_sdk], &us[is_sdk]);
    share[is_sdk] = bench_share_within(parts[is_sdk].at, parts[is_sdk].num, 1);
  }
  bench_row_figure(row, "share_within", share[1]);
  bench_row_figure(row, "share_within_of_bare", share[0]);
  bench_row_figure(row, "p99_us", bench_quantile(us[1].at, us[1].num, 0.99));
  bench_row_figure(row, "p99_of_bare_us",
                   bench_quantile(us[0].at, us[0].num, 0.99));
  bench_row_figure(row, "max_us", bench_quantile(us[1].at, us[1].num, 1));
  bench_row_figure(row, "max_of_bare_us",
                   bench_quantile(us[0].at, us[0].num, 1));
  bool ok = share[1] >= 0.99 ||
            share[1] >= share[0] - three_sigma(share[0], share[1], us[1].num);
  for (int i = 0; i < 2; i++) {
    bench_values_clear(&parts[i]);
    bench_values_clear(&us[i]);
  }
  return ok;
}

static void judge(bench_row *row, const bench *b) {
  bool within = true;
  row->figure_unit = "us";
  row->figure = row->spread = 0;
  for (int i = 0; i < LENGTHS; i++) {
    double off =
        fabs(median_excess(b, true, i, -1) - median_excess(b, false, i, -1));
    double again =
        fabs(median_excess(b, false, i, 1) - median_excess(b, false, i, 0));
    within &= off <= allowed_us(i);
    row->figure = fmax(row->figure, off);
    row->spread = fmax(row->spread, again);
  }
  bool shares = compare_shares(row, b);
  bench_row_figure(row, "lost", (double)b->session.stats.lost);
  bench_row_judge(row, "within 1 % or 2 us of bare events",
                  within && shares && b->session.stats.lost == 0);
}

static void add_row(const bench *b) {
  char id[32], what[96];
  snprintf(id, sizeof id, "spin_%d_%d", b->num_threads, b->num_streams);
  snprintf(what, sizeof what, "spin kernels, %d thread%s, %d stream%s",
           b->num_threads, b->num_threads > 1 ? "s" : "", b->num_streams,
           b->num_streams > 1 ? "s" : "");
  bench_row *row = bench_row_add(&b->run->report, "spin", id, what);
  bench_values bare = excess_of(b, false, -1, -1),
               sdk = excess_of(b, true, -1, -1);
  row->unit = "us";
  row->control = bench_median(bare.at, bare.num);
  row->value = bench_median(sdk.at, sdk.num);
  bench_row_series(row, "bare pair less kernel", "us", &bare);
  bench_row_series(row, "range less kernel", "us", &sdk);
  judge(row, b);
  bench_values_clear(&bare);
  bench_values_clear(&sdk);
}

static void create_lane(bench *b, int number) {
  lane *l = &b->lanes[number];
  char name[16];
  pthread_mutex_init(&l->mutex, NULL);
  l->stream = bench_stream_create();
  l->gate = bench_gate_create();
  BENCH_CHECK(cudaMalloc((void **)&l->own_ns, LANE_OPS * sizeof *l->own_ns));
  for (size_t i = 0; i < sizeof l->events / sizeof *l->events; i++)
    l->events[i] = bench_event_create();
  snprintf(name, sizeof name, "s%d", number);
  pprof_stream_name(b->run->device, l->stream, name);
}

static void destroy_lane(lane *l) {
  for (size_t i = 0; i < sizeof l->events / sizeof *l->events; i++)
    BENCH_CHECK(cudaEventDestroy(l->events[i]));
  BENCH_CHECK(cudaFree(l->own_ns));
  BENCH_CHECK(cudaStreamDestroy(l->stream));
  bench_gate_destroy(&l->gate);
  pthread_mutex_destroy(&l->mutex);
}

static bool measure(bench_run *run, int num_threads, int num_streams) {
  bench b = {.run = run,
             .num_threads = num_threads,
             .num_streams = num_streams,
             .rounds = run->options.quick ? 12 : MAX_ROUNDS,
             .session = {.keeps = "spin"},
             .barrier = {.num = (unsigned)num_threads},
             .ok = true};
  b.lanes = calloc(MAX_STREAMS, sizeof *b.lanes);
  if (!b.lanes) return bench_fail("out of memory");
  for (int s = 0; s < num_streams; s++) create_lane(&b, s);
  bool ok = run_threads(&b);
  for (int s = 0; s < num_streams; s++) read_own_times(&b.lanes[s]);
  if (ok && !read_ranges(&b)) ok = bench_fail("spin: ranges do not match");
  if (ok) add_row(&b);
  for (int s = 0; s < num_streams; s++) destroy_lane(&b.lanes[s]);
  bench_session_destroy(&b.session);
  free(b.lanes);
  return ok;
}

bool bench_part_spin(bench_run *run) {
  static const int streams[] = {1, 2, 4, 8};
  bool ok = true;
  for (int threads = 1; threads <= MAX_THREADS; threads *= 2)
    for (int i = 0; i < 4; i++) ok = measure(run, threads, streams[i]) && ok;
  return ok;
}
