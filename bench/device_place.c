// SPDX-License-Identifier: Apache-2.0
//
// Measures the error of ranges' places on the host's time line. A probe
// brackets an event on an idle stream: a mark, the range's begin, spinning
// until the stream is done, a mark. The event lies between the marks, and so
// must the place that pprof gives it without the second mark. All three times
// are on the run's time line. Bare probes, by turns, measure the quality of a
// bracket.
//
// A device that was left alone takes tens of microseconds to notice a stream
// again. Three of four probes wake it first; narrow brackets measure the error.
// Every bracket, also a wide one, checks that the place is inside.
//
// Half of the time another thread keeps the device busy with short kernels.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_bench.h"
#include "device_kernels.h"

// Before the second anchor the drift is not known.
#define SETTLE_NS 2500000000u
#define LOAD_PERIOD_NS 5000000000u
#define MEAN_WAIT_US 50000
// Half of the bracket: above it the middle is no measure of an error.
#define NARROW_NS 4000

enum { LOAD_STREAMS = 4 };

PPROF_SITE(before, "place mark 1", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(after, "place mark 2", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(probe, "place probe 0", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(load_site, "load", PPROF_CATEGORY_INFERENCE);

typedef struct bench {
  bench_run *run;
  bench_session session;
  cudaStream_t stream;
  uint64_t begin_ns, end_ns;
  uint64_t num_probes;
  uint64_t load_ranges;
  // Bare probes: the residual of the way from each to the next.
  bench_values middle_us, elapsed_us;
  // Of the probes after the settling; the ages are the time into the run.
  bench_values age_s, error_us, abs_error_us;  // of narrow brackets
  bench_values bound_age_s, bound_us, half_bracket_us;
  uint64_t num_compared, num_outside, num_unordered;
} bench;

static bool is_loaded(const bench *b, uint64_t now) {
  return (now - b->begin_ns) / LOAD_PERIOD_NS % 2 == 1;
}

static void *load(void *argument) {
  bench *b = argument;
  cudaStream_t streams[LOAD_STREAMS];
  bench_thread_begin();
  for (int i = 0; i < LOAD_STREAMS; i++) streams[i] = bench_stream_create();
  for (uint64_t now = bench_now_ns(), i = 0; now < b->end_ns;
       now = bench_now_ns(), i++) {
    if (!is_loaded(b, now)) {
      bench_sleep_us(10000);
      continue;
    }
    cudaStream_t stream = streams[i % LOAD_STREAMS];
    pprof_device_push(b->run->device, stream, &load_site);
    bench_launch_spin(stream, 20000 + 10000 * (i % 9), NULL);
    pprof_device_pop(b->run->device, stream);
    b->load_ranges++;
    bench_sleep_us(200);
  }
  for (int i = 0; i < LOAD_STREAMS; i++) {
    BENCH_CHECK(cudaStreamSynchronize(streams[i]));
    BENCH_CHECK(cudaStreamDestroy(streams[i]));
  }
  return NULL;
}

static void wait_idle(cudaStream_t stream) {
  cudaError_t error;
  while ((error = cudaStreamQuery(stream)) == cudaErrorNotReady) {
  }
  BENCH_CHECK(error);
}

static void wake(const bench *b, cudaEvent_t event) {
  for (int i = 0; i < 3; i++) {
    bench_record(b->run, event, b->stream);
    wait_idle(b->stream);
  }
}

static void probe_range(bench *b) {
  pprof_mark(&before);
  pprof_device_push(b->run->device, b->stream, &probe);
  wait_idle(b->stream);
  pprof_mark(&after);
  pprof_device_pop(b->run->device, b->stream);
  wait_idle(b->stream);
  b->num_probes++;
}

// Answers the middle of the bracket.
static double probe_bare(bench *b, cudaEvent_t event) {
  uint64_t start = bench_now_ns();
  bench_record(b->run, event, b->stream);
  wait_idle(b->stream);
  uint64_t end = bench_now_ns();
  return (double)(start - b->begin_ns) / 1000 + (double)(end - start) / 2000;
}

static void run_probes(bench *b) {
  cudaEvent_t events[3];
  for (int i = 0; i < 3; i++) events[i] = bench_event_create();
  uint64_t random = 88172645463325252u, num = 0;
  double last_us = 0;
  while (bench_now_ns() < b->end_ns) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    bench_sleep_us((unsigned)(random % (2 * MEAN_WAIT_US)));
    if (num % 4) wake(b, events[2]);
    probe_range(b);
    double us = probe_bare(b, events[num % 2]);
    if (num) {
      bench_values_add(&b->middle_us, us - last_us);
      bench_values_add(&b->elapsed_us, bench_elapsed_us(events[(num + 1) % 2],
                                                        events[num % 2]));
    }
    last_us = us;
    num++;
  }
  for (int i = 0; i < 3; i++) BENCH_CHECK(cudaEventDestroy(events[i]));
}

static bool run_session(bench *b) {
  pthread_t thread;
  pprof_stream_name(b->run->device, b->stream, "place");
  if (!bench_session_start(&b->session)) return false;
  double minutes = b->run->options.minutes;
  b->begin_ns = bench_now_ns();
  b->end_ns = b->begin_ns + (uint64_t)(minutes * 60e9);
  if (pthread_create(&thread, NULL, load, b)) exit(1);
  run_probes(b);
  pthread_join(thread, NULL);
  return bench_session_wait(&b->session, 3 * b->num_probes + b->load_ranges) &&
         bench_session_stop(&b->session);
}

static int compare_start(const void *a, const void *b) {
  const bench_event *x = a, *y = b;
  return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void judge_probe(bench *b, const bench_event *mark_before,
                        const bench_event *range,
                        const bench_event *mark_after) {
  if (mark_before->start_ns > range->start_ns ||
      range->start_ns > mark_after->start_ns ||
      range->flags & PPROF_FLAG_NO_DEVICE_TIME) {
    b->num_unordered++;
    return;
  }
  if (range->start_ns < SETTLE_NS) return;
  double half = (double)(mark_after->start_ns - mark_before->start_ns) / 2;
  double middle = (double)mark_before->start_ns + half;
  double error = (double)range->device_start_ns - middle;
  double bound = (double)range->device_error_ns;
  b->num_compared++;
  b->num_outside += fabs(error) > half + bound;
  bench_values_add(&b->bound_us, bound / 1000);
  bench_values_add(&b->bound_age_s, (double)range->start_ns / 1e9);
  bench_values_add(&b->half_bracket_us, half / 1000);
  if (half > NARROW_NS) return;
  bench_values_add(&b->age_s, (double)range->start_ns / 1e9);
  bench_values_add(&b->error_us, error / 1000);
  bench_values_add(&b->abs_error_us, fabs(error) / 1000);
}

// Sorted by their host times, the events are mark, range, mark, again and
// again.
static bool read_probes(bench *b) {
  bench_capture *capture = b->session.capture;
  if (capture->num_kept != 3 * b->num_probes)
    return bench_fail("place: %zu events of %llu probes", capture->num_kept,
                      (unsigned long long)b->num_probes);
  qsort(capture->events, capture->num_kept, sizeof *capture->events,
        compare_start);
  for (size_t i = 0; i + 2 < capture->num_kept; i += 3) {
    const bench_event *e = &capture->events[i];
    if (bench_site_number(capture, e) == 1 &&
        bench_site_number(capture, e + 1) == 0 &&
        bench_site_number(capture, e + 2) == 2)
      judge_probe(b, e, e + 1, e + 2);
    else
      b->num_unordered++;
  }
  return true;
}

// The difference of two bare brackets without the clocks' steady drift: no
// probe can be better.
static bench_values bare_residuals(const bench *b, double *out_drift) {
  bench_values drift = {0}, residual = {0};
  for (size_t i = 0; i < b->middle_us.num; i++)
    if (b->elapsed_us.at[i] > 1000)
      bench_values_add(&drift, b->middle_us.at[i] / b->elapsed_us.at[i] - 1);
  *out_drift = bench_median(drift.at, drift.num);
  for (size_t i = 0; i < b->middle_us.num; i++)
    bench_values_add(&residual, fabs(b->middle_us.at[i] -
                                     b->elapsed_us.at[i] * (1 + *out_drift)));
  bench_values_clear(&drift);
  return residual;
}

// At most BENCH_MAX_SAMPLES of a long series, evenly spread.
static void add_spread_out(bench_row *row, const char *name, const char *unit,
                           const bench_values *values) {
  bench_values some = {0};
  for (size_t i = 0; i < BENCH_MAX_SAMPLES / 2 && values->num; i++)
    bench_values_add(&some,
                     values->at[i * values->num / (BENCH_MAX_SAMPLES / 2)]);
  bench_row_series(row, name, unit, &some);
  bench_values_clear(&some);
}

static void add_error_row(bench *b) {
  double drift = 0;
  bench_values residual = bare_residuals(b, &drift);
  const bench_values *error = &b->abs_error_us;
  bench_row *row = bench_row_add(&b->run->report, "place", "place_error",
                                 "error of place, p99");
  row->figure_unit = "us";
  row->figure = bench_quantile(error->at, error->num, 0.99);
  row->spread = bench_quantile(residual.at, residual.num, 0.99);
  bench_row_figure(row, "probes", (double)error->num);
  bench_row_figure(row, "minutes", b->run->options.minutes);
  bench_row_figure(row, "p50_us", bench_quantile(error->at, error->num, 0.5));
  bench_row_figure(row, "max_us", bench_quantile(error->at, error->num, 1));
  bench_row_figure(row, "signed_p50_us",
                   bench_median(b->error_us.at, b->error_us.num));
  bench_row_figure(row, "half_bracket_us",
                   bench_median(b->half_bracket_us.at, b->half_bracket_us.num));
  bench_row_figure(
      row, "half_bracket_p95_us",
      bench_quantile(b->half_bracket_us.at, b->half_bracket_us.num, 0.95));
  bench_row_figure(row, "drift_ppm", drift * 1e6);
  bench_row_figure(row, "bare_residual_p50_us",
                   bench_quantile(residual.at, residual.num, 0.5));
  bench_row_figure(row, "load_ranges", (double)b->load_ranges);
  bench_row_series(row, "|error|", "us", error);
  bench_row_series(row, "residual of bare brackets", "us", &residual);
  add_spread_out(row, "time into the run", "s", &b->age_s);
  add_spread_out(row, "error at that time", "us", &b->error_us);
  bench_row_judge(row, "< 5 us at 99 % of probes", row->figure < 5);
  bench_values_clear(&residual);
}

static void add_bound_rows(bench *b) {
  const bench_values *bound = &b->bound_us;
  bench_row *row = bench_row_add(&b->run->report, "place", "place_inside",
                                 "probes inside the stated error");
  double num = (double)b->num_compared;
  row->figure_unit = "%";
  row->figure = num > 0 ? 100 * (num - (double)b->num_outside) / num : NAN;
  bench_row_figure(row, "probes", num);
  bench_row_figure(row, "outside", (double)b->num_outside);
  bench_row_figure(row, "not_comparable", (double)b->num_unordered);
  bench_row_figure(row, "lost", (double)b->session.stats.lost);
  bench_row_judge(
      row, ">= 99 %",
      row->figure >= 99 && b->num_unordered == 0 && b->session.stats.lost == 0);
  row = bench_row_add(&b->run->report, "place", "place_bound",
                      "stated error of a place, p99");
  row->figure_unit = "us";
  row->figure = bench_quantile(bound->at, bound->num, 0.99);
  bench_row_figure(row, "p50_us", bench_quantile(bound->at, bound->num, 0.5));
  bench_row_figure(row, "max_us", bench_quantile(bound->at, bound->num, 1));
  bench_row_figure(row, "share_at_most_8_us",
                   bench_share_within(bound->at, bound->num, 8));
  bench_row_series(row, "stated error", "us", bound);
  add_spread_out(row, "time into the run", "s", &b->bound_age_s);
  add_spread_out(row, "stated error at that time", "us", bound);
  bench_row_judge(row, "<= 8 us", row->figure <= 8);
}

bool bench_part_place(bench_run *run) {
  bench b = {.run = run,
             .session = {.keeps = "place"},
             .stream = bench_stream_create()};
  bool ok = run_session(&b) && read_probes(&b);
  if (ok) {
    add_error_row(&b);
    add_bound_rows(&b);
  }
  bench_values_clear(&b.middle_us);
  bench_values_clear(&b.elapsed_us);
  bench_values_clear(&b.age_s);
  bench_values_clear(&b.error_us);
  bench_values_clear(&b.abs_error_us);
  bench_values_clear(&b.bound_age_s);
  bench_values_clear(&b.bound_us);
  bench_values_clear(&b.half_bracket_us);
  BENCH_CHECK(cudaStreamDestroy(b.stream));
  bench_session_destroy(&b.session);
  return ok;
}
