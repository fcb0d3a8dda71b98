// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of kernel tracing: host time for each launch and device
// time for each kernel, against a CUPTI client that only keeps its buffers. It
// also measures the cost left after a stop, and traces ten million kernels of a
// graph.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_bench.h"
#include "device_kernels.h"

enum {
  BURST = 400,  // less than what a launch queue takes
  AHEAD = 64,   // not timed
  ROUNDS = 15,
  GRAPH = 1000,
  MILLION = 1000000
};

typedef enum state { PLAIN, ALONE, AGAIN, OURS, AFTER, NUM_STATES } state;

// ---- a bare client of CUPTI; names and numbers as its headers have them ----

enum { BUFFER_BYTES = 8 << 20 };
static const unsigned kinds[] = {10, 1, 2, 22};  // as ours: kernels, copies, ..

static struct {
  int (*cuptiActivityRegisterCallbacks)(void *, void *);
  int (*cuptiActivityEnable)(unsigned);
  int (*cuptiActivityDisable)(unsigned);
  int (*cuptiActivityFlushAll)(unsigned);
  int (*cuptiFinalize)(void);
} cupti;

static void give_buffer(uint8_t **out, size_t *out_size, size_t *out_most) {
  *out = aligned_alloc(8, BUFFER_BYTES);
  *out_size = BUFFER_BYTES;
  *out_most = 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer,
                        size_t size, size_t valid) {
  (void)context, (void)stream, (void)size, (void)valid;
  free(buffer);
}

static bool load(void) {
  static const char *const names[] = {
      "libcupti.so.13", "libcupti.so.12",
      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  static const struct {
    const char *name;
    void *into;
  } symbols[] = {
      {"cuptiActivityRegisterCallbacks", &cupti.cuptiActivityRegisterCallbacks},
      {"cuptiActivityEnable", &cupti.cuptiActivityEnable},
      {"cuptiActivityDisable", &cupti.cuptiActivityDisable},
      {"cuptiActivityFlushAll", &cupti.cuptiActivityFlushAll},
      {"cuptiFinalize", &cupti.cuptiFinalize}};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return bench_fail("there is no CUPTI: %s", dlerror());
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) return bench_fail("CUPTI has no %s", symbols[i].name);
    memcpy(symbols[i].into, &found, sizeof found);
  }
  return true;
}

static bool begin_alone(void) {
  void *callbacks[2];
  void (*give)(uint8_t **, size_t *, size_t *) = give_buffer;
  void (*take)(void *, uint32_t, uint8_t *, size_t, size_t) = take_buffer;
  memcpy(&callbacks[0], &give, sizeof give);
  memcpy(&callbacks[1], &take, sizeof take);
  int error = cupti.cuptiActivityRegisterCallbacks(callbacks[0], callbacks[1]);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    error |= cupti.cuptiActivityEnable(kinds[i]);
  return error == 0 || bench_fail("CUPTI answers %d", error);
}

static bool end_alone(void) {
  int error = cupti.cuptiActivityFlushAll(1);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    error |= cupti.cuptiActivityDisable(kinds[i]);
  error |= cupti.cuptiFinalize();
  return error == 0 || bench_fail("CUPTI answers %d at its end", error);
}

// ---- ours ----

typedef struct places {
  char config[256], log[256];
} places;

static bool begin_ours(const bench_run *run, places *out) {
  pprof_error error = {""};
  snprintf(out->log, sizeof out->log, "%.200s/tracing.%d.pplog",
           run->options.scratch, (int)getpid());
  snprintf(out->config, sizeof out->config, "%.200s/tracing.%d.yaml",
           run->options.scratch, (int)getpid());
  unlink(out->log);
  FILE *file = fopen(out->config, "w");
  if (!file) return bench_fail("%s cannot be written", out->config);
  fprintf(file, "output: %s\ndevices: {mode: off, kernels: true}\n", out->log);
  fclose(file);
  if (pprof_start(out->config, &error) == PPROF_STATUS_OK) return true;
  return bench_fail("%s", error.text);
}

static bool end_ours(const places *at, bench_capture *out) {
  pprof_error error = {""};
  bool done = pprof_stop(&error) == PPROF_STATUS_OK;
  if (done && out)
    done = pprof_log_read(at->log, &out->base, &error) == PPROF_STATUS_OK;
  unlink(at->config);
  unlink(at->log);
  return done || bench_fail("%s", error.text);
}

// ---- costs ----

typedef struct costs {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  bench_gate gate;
  bench_values host_ns[NUM_STATES], gpu_us[NUM_STATES];
} costs;

static void launch(cudaStream_t stream, int num) {
  for (int i = 0; i < num; i++) bench_launch_tiny(stream);
}

static void measure(const bench_run *run, costs *c, state s) {
  launch(c->stream, AHEAD);
  uint64_t start = bench_now_ns();
  launch(c->stream, BURST);
  double ns = (double)(bench_now_ns() - start);
  bench_values_add(&c->host_ns[s], ns / BURST);
  BENCH_CHECK(cudaStreamSynchronize(c->stream));
  bench_gate_close(&c->gate, c->stream);
  launch(c->stream, AHEAD);
  bench_record(run, c->begin, c->stream);
  launch(c->stream, BURST);
  bench_record(run, c->end, c->stream);
  bench_gate_open(&c->gate);
  BENCH_CHECK(cudaStreamSynchronize(c->stream));
  bench_values_add(&c->gpu_us[s], bench_elapsed_us(c->begin, c->end) / BURST);
}

static bool measure_round(bench_run *run, costs *c) {
  places at;
  measure(run, c, PLAIN);
  if (!begin_alone()) return false;
  measure(run, c, ALONE);
  if (!end_alone()) return false;
  measure(run, c, AGAIN);
  if (!begin_ours(run, &at)) return false;
  bench_sleep_us(100000);
  measure(run, c, OURS);
  if (!end_ours(&at, NULL)) return false;
  measure(run, c, AFTER);
  return true;
}

// Adds the row of a cost, against the cost of CUPTI alone.
static void add_cost(bench_run *run, const char *id, const char *what,
                     const bench_values *values, const char *unit,
                     double bound) {
  double at[NUM_STATES];
  for (int s = 0; s < NUM_STATES; s++)
    at[s] = bench_median(values[s].at, values[s].num);
  double alone = at[ALONE] - (at[PLAIN] + at[AGAIN]) / 2;
  bench_row *row = bench_row_add(&run->report, "kernels", id, what);
  row->unit = unit;
  row->control = at[ALONE];
  row->value = at[OURS];
  row->figure = (at[OURS] - (at[PLAIN] + at[AGAIN]) / 2) / alone;
  row->spread = (at[AGAIN] - at[PLAIN]) / alone;
  bench_row_figure(row, "plain", at[PLAIN]);
  bench_row_figure(row, "added", alone * row->figure);
  bench_row_series(row, "CUPTI alone", unit, &values[ALONE]);
  bench_row_series(row, "pprof", unit, &values[OURS]);
  char text[80];
  snprintf(text, sizeof text, "≤ %.2f × what CUPTI alone adds", bound);
  bench_row_judge(row, text, row->figure <= bound);
}

static void add_after(bench_run *run, const costs *c) {
  double plain = bench_median(c->host_ns[PLAIN].at, c->host_ns[PLAIN].num);
  double again = bench_median(c->host_ns[AGAIN].at, c->host_ns[AGAIN].num);
  double after = bench_median(c->host_ns[AFTER].at, c->host_ns[AFTER].num);
  bench_row *row = bench_row_add(&run->report, "kernels", "kernels-after",
                                 "host time of a launch after a stop");
  row->unit = "ns";
  row->control = plain;
  row->value = after;
  row->figure = after / plain;
  row->spread = again / plain;
  bench_row_judge(row, "≤ 1.02 × before", row->figure <= 1.02);
}

static bool measure_costs(bench_run *run) {
  costs c = {.stream = bench_stream_create(),
             .begin = bench_event_create(),
             .end = bench_event_create(),
             .gate = bench_gate_create()};
  int rounds = run->options.quick ? 3 : ROUNDS;
  bool ok = true;
  for (int i = 0; i < rounds && ok; i++) ok = measure_round(run, &c);
  if (ok) {
    add_cost(run, "kernels-host", "host time a traced launch adds", c.host_ns,
             "ns", 1.15);
    add_cost(run, "kernels-gpu", "GPU time a traced kernel adds", c.gpu_us,
             "us", 1.1);
    add_after(run, &c);
  }
  for (int s = 0; s < NUM_STATES; s++) {
    bench_values_clear(&c.host_ns[s]);
    bench_values_clear(&c.gpu_us[s]);
  }
  bench_gate_destroy(&c.gate);
  BENCH_CHECK(cudaStreamDestroy(c.stream));
  return ok;
}

// ---- many ----

static double resident_mb(void) {
  double pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*s %lf", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static cudaGraphExec_t make_graph(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  BENCH_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch(stream, GRAPH);
  BENCH_CHECK(cudaStreamEndCapture(stream, &graph));
  BENCH_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  BENCH_CHECK(cudaGraphDestroy(graph));
  return exec;
}

static void launch_graphs(cudaGraphExec_t exec, cudaStream_t stream, int num) {
  for (int i = 0; i < num; i++) {
    BENCH_CHECK(cudaGraphLaunch(exec, stream));
    if (i % 16 == 15) BENCH_CHECK(cudaStreamSynchronize(stream));
  }
  BENCH_CHECK(cudaStreamSynchronize(stream));
}

static bool measure_many(bench_run *run) {
  int num = (run->options.quick ? 1 : 10) * MILLION / GRAPH;
  cudaStream_t stream = bench_stream_create();
  cudaGraphExec_t exec = make_graph(stream);
  bench_capture capture;
  places at;
  if (!begin_ours(run, &at)) return false;
  bench_sleep_us(100000);
  launch_graphs(exec, stream, num / 10);
  double before_mb = resident_mb();
  uint64_t start = bench_now_ns();
  launch_graphs(exec, stream, num - num / 10);
  double seconds = (double)(bench_now_ns() - start) / 1e9;
  double after_mb = resident_mb();
  bench_capture_init(&capture);
  bool ok = end_ours(&at, &capture);
  BENCH_CHECK(cudaGraphExecDestroy(exec));
  BENCH_CHECK(cudaStreamDestroy(stream));
  if (!ok) return false;
  double all = (double)num * GRAPH;
  bench_row *row = bench_row_add(&run->report, "kernels", "kernels-many",
                                 "memory over nine tenths of the kernels");
  row->figure_unit = "MB";
  row->figure = after_mb - before_mb;
  bench_row_figure(row, "kernels", all);
  bench_row_figure(row, "recorded", (double)capture.num_timed);
  bench_row_figure(row, "a second", all * 0.9 / seconds);
  bench_row_judge(row, "≤ 16 MB, and none lost",
                  row->figure <= 16 && (double)capture.num_timed == all);
  return true;
}

bool bench_part_kernels(bench_run *run) {
  return load() && measure_costs(run) && measure_many(run);
}
