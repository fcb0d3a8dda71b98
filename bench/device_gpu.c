// SPDX-License-Identifier: Apache-2.0
//
// Measures the GPU time of a range between tiny kernels, against a bare event
// pair, and of pprof_device_next, against one bare event. A gate holds the
// stream back while its queue is filled, so that host time does not count. One
// outer pair of events measures the whole queue.
#include <stdio.h>

#include "device_bench.h"
#include "device_kernels.h"

// Three commands a kernel stay well below the 1 024 at which a launch blocks.
enum { KERNELS = 100, WARM_UP = 12, MAX_REPETITIONS = 400 };

// In the order in which they run in each repetition.
typedef enum kind {
  BARE,
  PAIR,
  RANGE,
  PAIR_AGAIN,
  ONE,
  NEXT,
  ONE_AGAIN,
  BARE_AGAIN,
  NUM_KINDS
} kind;

static const char *const names[NUM_KINDS] = {
    "kernels only", "an event pair each",     "a range each",
    "pairs, again", "one event between each", "next between each",
    "one, again",   "kernels only, again"};

PPROF_SITE(site, "gpu", PPROF_CATEGORY_INFERENCE);

typedef struct bench {
  bench_run *run;
  cudaStream_t stream;
  cudaEvent_t outer[2], events[2 * KERNELS];
  bench_gate gate;
  bench_session session;
  uint64_t issued, lost_before;
  double us[NUM_KINDS][MAX_REPETITIONS];  // a kernel
} bench;

static void submit_bare(const bench *b, kind k) {
  bool pair = k == PAIR || k == PAIR_AGAIN;
  bool one = k == ONE || k == ONE_AGAIN;
  if (one) bench_record(b->run, b->events[KERNELS], b->stream);
  for (int i = 0; i < KERNELS; i++) {
    if (pair) bench_record(b->run, b->events[2 * i], b->stream);
    bench_launch_tiny(b->stream);
    if (pair) bench_record(b->run, b->events[2 * i + 1], b->stream);
    if (one) bench_record(b->run, b->events[i], b->stream);
  }
}

static void submit_ranges(bench *b) {
  for (int i = 0; i < KERNELS; i++) {
    pprof_device_push(b->run->device, b->stream, &site);
    bench_launch_tiny(b->stream);
    pprof_device_pop(b->run->device, b->stream);
  }
  b->issued += KERNELS;
}

static void submit_chain(bench *b) {
  pprof_device_push(b->run->device, b->stream, &site);
  for (int i = 0; i < KERNELS; i++) {
    bench_launch_tiny(b->stream);
    if (i + 1 < KERNELS) pprof_device_next(b->run->device, b->stream, &site);
  }
  pprof_device_pop(b->run->device, b->stream);
  b->issued += KERNELS;
}

// Answers the GPU time of one kernel with the events around it, us.
static double run_queue(bench *b, kind k) {
  bench_gate_close(&b->gate, b->stream);
  bench_record(b->run, b->outer[0], b->stream);
  if (k == RANGE)
    submit_ranges(b);
  else if (k == NEXT)
    submit_chain(b);
  else
    submit_bare(b, k);
  bench_record(b->run, b->outer[1], b->stream);
  bench_gate_open(&b->gate);
  BENCH_CHECK(cudaStreamSynchronize(b->stream));
  return bench_elapsed_us(b->outer[0], b->outer[1]) / KERNELS;
}

static bool run_all(bench *b, int repetitions) {
  for (int i = -WARM_UP; i < repetitions; i++) {
    if (i == 0) b->lost_before = bench_session_lost(&b->session);
    for (kind k = 0; k < NUM_KINDS; k++) {
      double us = run_queue(b, k);
      if (i >= 0) b->us[k][i] = us;
      if ((k == RANGE || k == NEXT) &&
          !bench_session_wait(&b->session, b->issued))
        return false;
    }
  }
  return bench_session_stop(&b->session);
}

typedef struct comparison {
  const char *id, *what, *bound;
  kind base, measured, again;  // in the order of their running
} comparison;

static double added_in(const bench *b, int i, kind k) {
  return b->us[k][i] - (b->us[BARE][i] + b->us[BARE_AGAIN][i]) / 2;
}

// The added time of ranges over that of the bare events before and after, by
// repetition. `again`: that of the later bare events over the earlier.
static bench_values ratios_of(const bench *b, int repetitions,
                              const comparison *c, bool again) {
  bench_values ratios = {0};
  for (int i = 0; i < repetitions; i++) {
    double before = added_in(b, i, c->base), after = added_in(b, i, c->again);
    double sdk = added_in(b, i, c->measured);
    bench_values_add(&ratios,
                     again ? after / before : 2 * sdk / (before + after));
  }
  return ratios;
}

static double added(const bench *b, int repetitions, kind k) {
  bench_values us = {0};
  for (int i = 0; i < repetitions; i++)
    bench_values_add(&us, added_in(b, i, k));
  double median = bench_median(us.at, us.num);
  bench_values_clear(&us);
  return median;
}

static void add_series(bench_row *row, const bench *b, int repetitions,
                       kind k) {
  bench_values us = {0};
  for (int i = 0; i < repetitions; i++) bench_values_add(&us, b->us[k][i]);
  bench_row_series(row, names[k], "us a kernel", &us);
  bench_values_clear(&us);
}

static void add_row(bench *b, int repetitions, const comparison *c) {
  bench_row *row = bench_row_add(&b->run->report, "gpu", c->id, c->what);
  row->unit = "us";
  row->control = added(b, repetitions, c->base);
  row->value = added(b, repetitions, c->measured);
  bench_values ratios = ratios_of(b, repetitions, c, false);
  bench_values again = ratios_of(b, repetitions, c, true);
  row->figure = bench_median(ratios.at, ratios.num);
  row->spread = bench_median(again.at, again.num);
  uint64_t lost = b->session.stats.lost - b->lost_before;
  bench_row_figure(row, "kernel_us",
                   bench_median(b->us[BARE], (size_t)repetitions));
  bench_row_figure(row, "kernel_again_us",
                   bench_median(b->us[BARE_AGAIN], (size_t)repetitions));
  bench_row_figure(row, "p95", bench_quantile(ratios.at, ratios.num, 0.95));
  bench_row_figure(row, "aa_p5", bench_quantile(again.at, again.num, 0.05));
  bench_row_figure(row, "aa_p95", bench_quantile(again.at, again.num, 0.95));
  bench_row_figure(row, "lost_after_warm_up", (double)lost);
  bench_row_judge(row, c->bound, row->figure <= 1.05 && lost == 0);
  add_series(row, b, repetitions, BARE);
  add_series(row, b, repetitions, c->base);
  add_series(row, b, repetitions, c->measured);
  add_series(row, b, repetitions, c->again);
  bench_values_clear(&ratios);
  bench_values_clear(&again);
}

static void create(bench *b, bench_run *run) {
  *b = (bench){.run = run, .stream = bench_stream_create()};
  b->gate = bench_gate_create();
  for (int i = 0; i < 2; i++) b->outer[i] = bench_event_create();
  for (int i = 0; i < 2 * KERNELS; i++) b->events[i] = bench_event_create();
  pprof_stream_name(run->device, b->stream, "gpu");
}

static void destroy(bench *b) {
  for (int i = 0; i < 2; i++) BENCH_CHECK(cudaEventDestroy(b->outer[i]));
  for (int i = 0; i < 2 * KERNELS; i++)
    BENCH_CHECK(cudaEventDestroy(b->events[i]));
  BENCH_CHECK(cudaStreamDestroy(b->stream));
  bench_gate_destroy(&b->gate);
  bench_session_destroy(&b->session);
}

bool bench_part_gpu(bench_run *run) {
  static const comparison range = {"gpu_range",
                                   "GPU time a range adds to a tiny kernel",
                                   "<= 1.05 x a bare event pair",
                                   PAIR,
                                   RANGE,
                                   PAIR_AGAIN};
  static const comparison next = {"gpu_next",
                                  "GPU time a next adds to a tiny kernel",
                                  "<= 1.05 x one bare event",
                                  ONE,
                                  NEXT,
                                  ONE_AGAIN};
  static bench b;
  int repetitions = run->options.quick ? 40 : 250;
  create(&b, run);
  bool ok = bench_session_start(&b.session) && run_all(&b, repetitions);
  if (ok) {
    add_row(&b, repetitions, &range);
    add_row(&b, repetitions, &next);
  }
  destroy(&b);
  return ok;
}
