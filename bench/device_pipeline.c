// SPDX-License-Identifier: Apache-2.0
//
// Times a pipeline of two models with a CPU task between them and one wait an
// iteration. It runs bare, timed by pprof with everything captured (host
// scopes, device ranges, a log), by bare events, and by synchronizing. The ways
// alternate, so that the device's temperature and clock touch all of them
// alike.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_bench.h"
#include "device_kernels.h"

enum {
  MODELS = 2,
  VALUES = 1 << 22,
  FEATURES = 1 << 16,  // what goes through the CPU task
  MAX_ITERATIONS = 50,
  MAX_RUNS = 20
};

// In the order in which they run in each repetition.
typedef enum way { BARE, SDK, BARE_AGAIN, EVENTS, SYNCHRONIZE, NUM_WAYS } way;

PPROF_SITE(model_sites_1, "model 1", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(model_sites_2, "model 2", PPROF_CATEGORY_INFERENCE);
static pprof_site *const sites[MODELS] = {&model_sites_1, &model_sites_2};
static const int num_kernels[MODELS] = {20, 5};
static const double kernel_us[MODELS] = {250, 100};

typedef struct bench {
  bench_run *run;
  cudaStream_t stream;
  float *values;    // device
  float *features;  // pinned host memory
  int rounds[MODELS];
  int iterations, runs;
  cudaEvent_t events[MAX_ITERATIONS][MODELS][2];
  double host_us[MAX_ITERATIONS][MODELS];
  bench_session session;
  char log_path[256];
  uint64_t lost;
  // By run: total and the median of each model.
  double total_ms[NUM_WAYS][MAX_RUNS];
  double model_us[NUM_WAYS][MODELS][MAX_RUNS];
} bench;

static void launch_model(const bench *b, int model) {
  for (int i = 0; i < num_kernels[model]; i++)
    bench_launch_model(b->stream, b->values, VALUES, b->rounds[model]);
}

// So many rounds that a kernel takes its time on this device.
static void calibrate(bench *b) {
  cudaEvent_t from = bench_event_create(), to = bench_event_create();
  const int tried = 400, repeats = 40;
  for (int warm = 0; warm < 2; warm++) {
    BENCH_CHECK(cudaEventRecord(from, b->stream));
    for (int i = 0; i < repeats; i++)
      bench_launch_model(b->stream, b->values, VALUES, tried);
    BENCH_CHECK(cudaEventRecord(to, b->stream));
    BENCH_CHECK(cudaStreamSynchronize(b->stream));
  }
  double us = bench_elapsed_us(from, to) / repeats;
  for (int m = 0; m < MODELS; m++)
    b->rounds[m] = (int)(tried * kernel_us[m] / us) + 1;
  BENCH_CHECK(cudaEventDestroy(from));
  BENCH_CHECK(cudaEventDestroy(to));
}

// The softmax of model 1's output.
static void run_cpu_task(float *features) {
  float largest = features[0], sum = 0;
  for (int i = 1; i < FEATURES; i++) largest = fmaxf(largest, features[i]);
  for (int i = 0; i < FEATURES; i++) {
    features[i] = expf(features[i] - largest);
    sum += features[i];
  }
  for (int i = 0; i < FEATURES; i++) features[i] /= sum;
}

static void run_model(bench *b, way w, int model, int iteration) {
  uint64_t start = 0;
  if (w == SDK) pprof_device_push(b->run->device, b->stream, sites[model]);
  if (w == EVENTS)
    bench_record(b->run, b->events[iteration][model][0], b->stream);
  if (w == SYNCHRONIZE) {
    BENCH_CHECK(cudaStreamSynchronize(b->stream));
    start = bench_now_ns();
  }
  launch_model(b, model);
  if (w == SDK) pprof_device_pop(b->run->device, b->stream);
  if (w == EVENTS)
    bench_record(b->run, b->events[iteration][model][1], b->stream);
  if (w == SYNCHRONIZE) {
    BENCH_CHECK(cudaStreamSynchronize(b->stream));
    b->host_us[iteration][model] = (double)(bench_now_ns() - start) / 1000;
  }
}

static void run_iteration(bench *b, way w, int iteration) {
  PPROF_SCOPE("iteration");
  run_model(b, w, 0, iteration);
  BENCH_CHECK(cudaMemcpyAsync(b->features, b->values,
                              FEATURES * sizeof *b->features,
                              cudaMemcpyDeviceToHost, b->stream));
  {
    PPROF_SCOPE("wait");
    BENCH_CHECK(cudaStreamSynchronize(b->stream));
  }
  {
    PPROF_SCOPE_CAT("cpu task", PPROF_CATEGORY_CPU_TASK);
    run_cpu_task(b->features);
  }
  BENCH_CHECK(cudaMemcpyAsync(b->values, b->features,
                              FEATURES * sizeof *b->features,
                              cudaMemcpyHostToDevice, b->stream));
  run_model(b, w, 1, iteration);
}

static bool read_sdk(bench *b, int run, double us[MODELS][MAX_ITERATIONS]) {
  bench_capture *capture = b->session.capture;
  int num[MODELS] = {0};
  for (size_t i = 0; i < capture->num_kept; i++) {
    const bench_event *event = &capture->events[i];
    int model = bench_site_number(capture, event) - 1;
    if (model < 0 || model >= MODELS || num[model] >= b->iterations ||
        event->flags & PPROF_FLAG_NO_DEVICE_TIME)
      return bench_fail("pipeline: run %d has a range without a time", run);
    us[model][num[model]++] =
        (double)(event->device_end_ns - event->device_start_ns) / 1000;
  }
  if (num[0] == b->iterations && num[1] == b->iterations) return true;
  return bench_fail("pipeline: run %d has %d and %d ranges", run, num[0],
                    num[1]);
}

// Reads the models' times from the run just done.
static bool read_models(bench *b, way w, int run) {
  double us[MODELS][MAX_ITERATIONS];
  if (w == SDK && !read_sdk(b, run, us)) return false;
  for (int m = 0; m < MODELS; m++) {
    for (int i = 0; i < b->iterations; i++) {
      if (w == EVENTS)
        us[m][i] = bench_elapsed_us(b->events[i][m][0], b->events[i][m][1]);
      if (w == SYNCHRONIZE) us[m][i] = b->host_us[i][m];
    }
    b->model_us[w][m][run] = bench_median(us[m], (size_t)b->iterations);
  }
  return true;
}

static bool run_once(bench *b, way w, int run) {
  b->session = (bench_session){.keeps = "model", .log_path = b->log_path};
  if (w == SDK && !bench_session_start(&b->session)) return false;
  uint64_t begin = bench_now_ns();
  for (int i = 0; i < b->iterations; i++) run_iteration(b, w, i);
  BENCH_CHECK(cudaStreamSynchronize(b->stream));
  uint64_t end = bench_now_ns();
  bool ok = w != SDK || bench_session_stop(&b->session);
  if (run >= 0 && ok) {
    b->total_ms[w][run] = (double)(end - begin) / 1e6;
    if (w != BARE && w != BARE_AGAIN) ok = read_models(b, w, run);
    b->lost += w == SDK ? b->session.stats.lost : 0;
  }
  if (w == SDK) {
    bench_session_destroy(&b->session);
    unlink(b->log_path);
  }
  return ok;
}

static bool run_all(bench *b) {
  for (int run = -1; run < b->runs; run++)
    for (way w = 0; w < NUM_WAYS; w++)
      if (!run_once(b, w, run)) return false;
  return true;
}

static bench_values copy_of(const double *values, int num) {
  bench_values copy = {0};
  for (int i = 0; i < num; i++) bench_values_add(&copy, values[i]);
  return copy;
}

static void add_series(bench_row *row, const char *name, const char *unit,
                       const double *values, int num) {
  bench_values copy = copy_of(values, num);
  bench_row_series(row, name, unit, &copy);
  bench_values_clear(&copy);
}

// The median over the runs of value - control, and of the control's own change
// from run to run.
static void compare(bench_row *row, const double *value, const double *control,
                    int num) {
  bench_values difference = {0}, own = {0};
  for (int i = 0; i < num; i++) {
    bench_values_add(&difference, value[i] - control[i]);
    if (i) bench_values_add(&own, fabs(control[i] - control[i - 1]));
  }
  row->unit = "us";
  row->figure_unit = "us";
  row->control = bench_median(control, (size_t)num);
  row->value = bench_median(value, (size_t)num);
  row->figure = bench_median(difference.at, difference.num);
  row->spread = bench_median(own.at, own.num);
  bench_row_figure(row, "largest_us",
                   bench_quantile(difference.at, difference.num, 1));
  bench_row_figure(row, "smallest_us",
                   bench_quantile(difference.at, difference.num, 0));
  bench_values_clear(&difference);
  bench_values_clear(&own);
}

static void add_model_rows(bench *b, int model) {
  char id[32], what[96];
  const double *events = b->model_us[EVENTS][model];
  const double *sdk = b->model_us[SDK][model];
  const double *synchronized = b->model_us[SYNCHRONIZE][model];
  snprintf(id, sizeof id, "pipeline_model%d", model + 1);
  snprintf(what, sizeof what, "pprof less bare events, model %d", model + 1);
  bench_row *row = bench_row_add(&b->run->report, "pipeline", id, what);
  compare(row, sdk, events, b->runs);
  add_series(row, "bare events", "us", events, b->runs);
  add_series(row, "pprof", "us", sdk, b->runs);
  bench_row_judge(
      row, "within 1 % or 2 us",
      fabs(row->figure) <= fmax(2, 0.01 * row->control) && b->lost == 0);
  snprintf(id, sizeof id, "pipeline_sync%d", model + 1);
  snprintf(what, sizeof what, "synchronize less bare events, model %d",
           model + 1);
  row = bench_row_add(&b->run->report, "pipeline", id, what);
  compare(row, synchronized, events, b->runs);
  add_series(row, "synchronize", "us", synchronized, b->runs);
  bench_row_judge(row, "more, by at most 100 us",
                  row->figure > 0 && row->figure <= 100);
}

static void add_total_row(bench *b) {
  bench_row *row = bench_row_add(&b->run->report, "pipeline", "pipeline_total",
                                 "pipeline under full capture, over bare");
  bench_values more = {0}, again = {0};
  for (int i = 0; i < b->runs; i++) {
    double one = b->total_ms[BARE][i], two = b->total_ms[BARE_AGAIN][i];
    bench_values_add(&more,
                     100 * (b->total_ms[SDK][i] / ((one + two) / 2) - 1));
    bench_values_add(&again, 100 * fabs(two / one - 1));
  }
  row->unit = "ms";
  row->control = bench_median(b->total_ms[BARE], (size_t)b->runs);
  row->value = bench_median(b->total_ms[SDK], (size_t)b->runs);
  row->figure_unit = "%";
  row->figure = bench_median(more.at, more.num);
  row->spread = bench_median(again.at, again.num);
  bench_row_figure(row, "runs", b->runs);
  bench_row_figure(row, "iterations_a_run", b->iterations);
  bench_row_figure(row, "events_ms",
                   bench_median(b->total_ms[EVENTS], (size_t)b->runs));
  bench_row_figure(row, "synchronize_ms",
                   bench_median(b->total_ms[SYNCHRONIZE], (size_t)b->runs));
  bench_row_figure(row, "spread_p90_percent",
                   bench_quantile(again.at, again.num, 0.9));
  bench_row_figure(row, "lost", (double)b->lost);
  add_series(row, "bare", "ms", b->total_ms[BARE], b->runs);
  add_series(row, "pprof", "ms", b->total_ms[SDK], b->runs);
  add_series(row, "bare, again", "ms", b->total_ms[BARE_AGAIN], b->runs);
  bench_row_judge(row, "<= A/A spread + 0.2 %",
                  row->figure <= row->spread + 0.2 && b->lost == 0);
  bench_values_clear(&more);
  bench_values_clear(&again);
}

static void create(bench *b) {
  b->stream = bench_stream_create();
  BENCH_CHECK(cudaMalloc((void **)&b->values, VALUES * sizeof *b->values));
  BENCH_CHECK(cudaMemset(b->values, 0, VALUES * sizeof *b->values));
  BENCH_CHECK(
      cudaMallocHost((void **)&b->features, FEATURES * sizeof *b->features));
  for (int i = 0; i < MAX_ITERATIONS; i++)
    for (int m = 0; m < MODELS; m++)
      for (int k = 0; k < 2; k++) b->events[i][m][k] = bench_event_create();
  pprof_stream_name(b->run->device, b->stream, "pipeline");
  snprintf(b->log_path, sizeof b->log_path, "%s/bench-pipeline-%d.pplog",
           b->run->options.scratch, (int)getpid());
  calibrate(b);
}

static void destroy(bench *b) {
  for (int i = 0; i < MAX_ITERATIONS; i++)
    for (int m = 0; m < MODELS; m++)
      for (int k = 0; k < 2; k++)
        BENCH_CHECK(cudaEventDestroy(b->events[i][m][k]));
  BENCH_CHECK(cudaFreeHost(b->features));
  BENCH_CHECK(cudaFree(b->values));
  BENCH_CHECK(cudaStreamDestroy(b->stream));
}

bool bench_part_pipeline(bench_run *run) {
  static bench b;
  b = (bench){.run = run,
              .iterations = run->options.quick ? 20 : MAX_ITERATIONS,
              .runs = run->options.quick ? 5 : MAX_RUNS};
  create(&b);
  bool ok = run_all(&b);
  if (ok) {
    for (int m = 0; m < MODELS; m++) add_model_rows(&b, m);
    add_total_row(&b);
  }
  destroy(&b);
  return ok;
}
