// SPDX-License-Identifier: Apache-2.0
//
// Records ten million device ranges at 100 000 a second, on four threads with a
// stream each, a tiny kernel in each range, a log and a sink attached. Memory
// must stay flat and no range be lost. It also measures the cost of a range
// under that load.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_bench.h"
#include "device_kernels.h"

enum { THREADS = 4, RATE = 100000, SAMPLED_EACH = 64, WATCH_US = 20000 };

PPROF_SITE(site, "rate", PPROF_CATEGORY_INFERENCE);

typedef struct bench {
  bench_run *run;
  bench_session session;
  uint64_t ranges_each;
  unsigned running;  // threads; atomic
  // Each half second: anonymous memory, the spool as it was taken, the part of
  // it that this process has touched so far.
  bench_values anonymous_mib, spool_mib, touched_mib, lost;
  double first_loss_s, last_loss_s, most_outstanding;
} bench;

typedef struct worker {
  bench *bench;
  pthread_t thread;
  cudaStream_t stream;
  bench_values range_us, launch_us;
  double late_us;   // behind the schedule, at most
  uint64_t issued;  // atomic
} worker;

static double read_status_mib(const char *format) {
  char line[256];
  long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, format, &kib) == 1) break;
  if (file) fclose(file);
  return (double)kib / 1024;
}

static void run_range(worker *self, bool sampled) {
  pprof_device *device = self->bench->run->device;
  if (!sampled) {
    pprof_device_push(device, self->stream, &site);
    bench_launch_tiny(self->stream);
    pprof_device_pop(device, self->stream);
    return;
  }
  uint64_t start = bench_now_ns();
  pprof_device_push(device, self->stream, &site);
  uint64_t pushed = bench_now_ns();
  bench_launch_tiny(self->stream);
  uint64_t launched = bench_now_ns();
  pprof_device_pop(device, self->stream);
  uint64_t end = bench_now_ns();
  bench_values_add(&self->range_us,
                   (double)(pushed - start + end - launched) / 1000);
  bench_values_add(&self->launch_us, (double)(launched - pushed) / 1000);
}

// Spins until each range is due: a sleep would come back too late.
static void *work(void *argument) {
  worker *self = argument;
  bench *b = self->bench;
  bench_thread_begin();
  uint64_t begin = bench_now_ns();
  for (uint64_t i = 0; i < b->ranges_each; i++) {
    uint64_t due = begin + i * (1000000000u / RATE * THREADS);
    uint64_t now = bench_now_ns();
    if (now > due && (double)(now - due) / 1000 > self->late_us)
      self->late_us = (double)(now - due) / 1000;
    while (now < due) now = bench_now_ns();
    run_range(self, i % SAMPLED_EACH == 0);
    __atomic_store_n(&self->issued, i + 1, __ATOMIC_RELAXED);
  }
  BENCH_CHECK(cudaStreamSynchronize(self->stream));
  __atomic_fetch_sub(&b->running, 1, __ATOMIC_RELEASE);
  return NULL;
}

static void take_samples(bench *b, const pprof_stats *stats) {
  bench_values_add(&b->anonymous_mib, read_status_mib("RssAnon: %ld"));
  bench_values_add(&b->spool_mib, (double)stats->spool_bytes / 1048576);
  bench_values_add(&b->touched_mib, read_status_mib("RssShmem: %ld"));
  bench_values_add(&b->lost, (double)stats->lost);
}

static void watch(bench *b, const worker *workers) {
  uint64_t begin = bench_now_ns(), lost = 0;
  for (unsigned i = 0; __atomic_load_n(&b->running, __ATOMIC_ACQUIRE); i++) {
    pprof_stats stats = {.size = sizeof stats};
    uint64_t delivered =
        __atomic_load_n(&b->session.capture->num_events, __ATOMIC_ACQUIRE);
    double outstanding = -(double)delivered;
    for (int t = 0; t < THREADS; t++)
      outstanding +=
          (double)__atomic_load_n(&workers[t].issued, __ATOMIC_RELAXED);
    pprof_session_stats(b->session.session, &stats);
    outstanding -= (double)stats.lost;
    if (outstanding > b->most_outstanding) b->most_outstanding = outstanding;
    double now_s = (double)(bench_now_ns() - begin) / 1e9;
    if (stats.lost != lost) {
      if (lost == 0) b->first_loss_s = now_s;
      b->last_loss_s = now_s;
      lost = stats.lost;
    }
    if (i % (500000 / WATCH_US) == 0) take_samples(b, &stats);
    bench_sleep_us(WATCH_US);
  }
}

static bool run_threads(bench *b, worker *workers, double *out_seconds) {
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.bench = b, .stream = bench_stream_create()};
    bench_values_reserve(&workers[i].range_us,
                         b->ranges_each / SAMPLED_EACH + 1);
    bench_values_reserve(&workers[i].launch_us,
                         b->ranges_each / SAMPLED_EACH + 1);
    pprof_stream_name(b->run->device, workers[i].stream, "rate");
  }
  if (!bench_session_start(&b->session)) return false;
  uint64_t begin = bench_now_ns();
  b->running = THREADS;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(1);
  watch(b, workers);
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  *out_seconds = (double)(bench_now_ns() - begin) / 1e9;
  return bench_session_wait(&b->session, THREADS * b->ranges_each) &&
         bench_session_stop(&b->session);
}

// The medians of the second and of the last quarter: the first one warms up.
static double growth(const bench_values *mib) {
  size_t quarter = mib->num / 4;
  if (quarter == 0) return 0;
  return bench_median(mib->at + mib->num - quarter, quarter) -
         bench_median(mib->at + quarter, quarter);
}

static void add_loss_row(bench *b, double seconds) {
  const pprof_stats *stats = &b->session.stats;
  double issued = (double)(THREADS * b->ranges_each);
  char what[96];
  snprintf(what, sizeof what, "lost of %.3g million, 100 000 a second",
           issued / 1e6);
  bench_row *row = bench_row_add(&b->run->report, "rate", "rate_lost", what);
  row->figure_unit = "ranges";
  row->figure = (double)stats->lost;
  bench_row_figure(row, "issued", issued);
  bench_row_figure(row, "recorded", (double)stats->recorded);
  bench_row_figure(row, "timed", (double)b->session.capture->num_timed);
  bench_row_figure(row, "untimed", (double)b->session.capture->num_untimed);
  bench_row_figure(row, "late", (double)stats->late);
  bench_row_figure(row, "device_lost", (double)stats->device_lost);
  bench_row_figure(row, "seconds", seconds);
  bench_row_figure(row, "ranges_per_second", issued / seconds);
  bench_row_figure(row, "most_outstanding", b->most_outstanding);
  bench_row_figure(row, "first_loss_s", b->first_loss_s);
  bench_row_figure(row, "last_loss_s", b->last_loss_s);
  bench_row_series(row, "lost so far, each 0.5 s", "ranges", &b->lost);
  bench_row_judge(row, "none",
                  stats->lost == 0 && stats->recorded == issued &&
                      (double)b->session.capture->num_timed == issued);
}

// The spool is taken whole at the start; its pages count from then on, whether
// this process has touched them yet or not.
static void add_memory_row(bench *b, double log_bytes) {
  bench_row *row = bench_row_add(&b->run->report, "rate", "rate_memory",
                                 "growth of memory, last over second quarter");
  row->figure_unit = "MiB";
  row->figure = growth(&b->anonymous_mib) + growth(&b->spool_mib);
  bench_row_figure(row, "anonymous_mib",
                   bench_median(b->anonymous_mib.at, b->anonymous_mib.num));
  bench_row_figure(row, "spool_mib",
                   bench_median(b->spool_mib.at, b->spool_mib.num));
  bench_row_figure(row, "touched_growth_mib", growth(&b->touched_mib));
  bench_row_figure(row, "log_bytes_a_range",
                   log_bytes / (double)(THREADS * b->ranges_each));
  bench_row_series(row, "anonymous, each 0.5 s", "MiB", &b->anonymous_mib);
  bench_row_series(row, "spool, each 0.5 s", "MiB", &b->spool_mib);
  bench_row_series(row, "touched of the spool, each 0.5 s", "MiB",
                   &b->touched_mib);
  bench_row_judge(row, "flat: <= 1 MiB", row->figure <= 1);
}

static void add_cost_row(bench *b, const worker *workers, double seconds) {
  bench_values range = {0}, launch = {0};
  double late_us = 0;
  for (int t = 0; t < THREADS; t++) {
    for (size_t i = 0; i < workers[t].range_us.num; i++) {
      bench_values_add(&range, workers[t].range_us.at[i]);
      bench_values_add(&launch, workers[t].launch_us.at[i]);
    }
    if (workers[t].late_us > late_us) late_us = workers[t].late_us;
  }
  bench_row *row = bench_row_add(&b->run->report, "rate", "rate_cost",
                                 "host cost of a range under that load");
  row->unit = "us";
  row->value = bench_median(range.at, range.num);
  bench_row_figure(row, "p90_us", bench_quantile(range.at, range.num, 0.9));
  bench_row_figure(row, "p99_us", bench_quantile(range.at, range.num, 0.99));
  bench_row_figure(row, "launch_us", bench_median(launch.at, launch.num));
  bench_row_figure(row, "launch_p99_us",
                   bench_quantile(launch.at, launch.num, 0.99));
  bench_row_figure(row, "ranges_per_second",
                   (double)(THREADS * b->ranges_each) / seconds);
  bench_row_figure(row, "furthest_behind_us", late_us);
  bench_row_series(row, "push and pop, with two clock reads", "us", &range);
  bench_row_series(row, "launch between them", "us", &launch);
  bench_values_clear(&range);
  bench_values_clear(&launch);
}

static double file_size(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

bool bench_part_rate(bench_run *run) {
  char path[256];
  snprintf(path, sizeof path, "%s/bench-rate-%d.pplog", run->options.scratch,
           (int)getpid());
  bench b = {.run = run,
             .session = {.log_path = path},
             .ranges_each = (run->options.quick ? 500000 : 10000000) / THREADS};
  worker workers[THREADS];
  double seconds = 0;
  memset(workers, 0, sizeof workers);
  bool ok = run_threads(&b, workers, &seconds);
  if (ok) {
    add_loss_row(&b, seconds);
    add_memory_row(&b, file_size(path));
    add_cost_row(&b, workers, seconds);
  }
  unlink(path);
  for (int i = 0; i < THREADS; i++) {
    bench_values_clear(&workers[i].range_us);
    bench_values_clear(&workers[i].launch_us);
    BENCH_CHECK(cudaStreamDestroy(workers[i].stream));
  }
  bench_values_clear(&b.anonymous_mib);
  bench_values_clear(&b.spool_mib);
  bench_values_clear(&b.touched_mib);
  bench_values_clear(&b.lost);
  bench_session_destroy(&b.session);
  return ok;
}
