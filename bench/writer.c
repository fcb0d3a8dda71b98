// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a range to the whole process: writer [-n RANGES] [-r
// REPETITIONS] [-s SECONDS] [-t THREADS]. The cost reaches from the marker to
// compressed bytes on the disk, with each compressor of this machine. Other
// figures are a range's bytes on disk and the highest rate without loss.
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "log/format/codec.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "timing.h"

// A pipeline of 33 names, three deep: 4 stages of 7 leaves.
enum {
  NUM_STAGES = 4,
  NUM_LEAVES = 7,
  NUM_NAMES = 1 + NUM_STAGES * (1 + NUM_LEAVES),
  READS = 2 * NUM_NAMES,  // of the clock
  TABLE = READS * 4096,
  CHUNK = 3000,  // pipelines between two waits: a small part of the buffer
  NUM_WRITERS = 3
};

static const double process_bound = 2, bytes_bound = 3;

typedef struct writer {
  const char *name;
  bool there;
  // By repetition; all but the last for a range.
  double *marking_ns, *behind_ns, *ratio, *bytes, *session_ns;
  double rate;  // ranges a second
} writer;

typedef struct bench {
  writer writers[NUM_WRITERS];  // by ppi_codec_library
  uint64_t num_ranges;
  int repetitions, num_threads;
  double seconds;
  char path[600];
} bench;

// ---- the stream ----

static pprof_site sites[NUM_NAMES];
static char names[NUM_NAMES][16];

static void name_sites(void) {
  for (int i = 0; i < NUM_NAMES; i++) {
    snprintf(names[i], sizeof names[i], "name %d", i);
    sites[i].name = names[i];
    sites[i].category = PPROF_CATEGORY_USER_DEFINED;
  }
}

static void run_pipeline(void) {
  pprof_site *site = sites;
  pprof_push(site++);
  for (int stage = 0; stage < NUM_STAGES; stage++) {
    pprof_push(site++);
    for (int leaf = 0; leaf < NUM_LEAVES; leaf++) {
      pprof_push(site++);
      pprof_pop();
    }
    pprof_pop();
  }
  pprof_pop();
}

// ---- a clock that makes log-normal durations of it ----

static uint32_t steps_ns[TABLE];
static _Atomic uint64_t now_ns;
static __thread bool marking;

static double unit_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

// 0.1 us to 0.35 ms, as the streams of other profilers' figures.
static uint32_t leaf_ns(uint64_t *state) {
  double normal = sqrt(-2 * log(unit_random(state))) *
                  cos(6.283185307179586 * unit_random(state));
  double ns = exp(log(6000) + 1.3 * normal);
  return (uint32_t)(ns < 100 ? 100 : ns > 350000 ? 350000 : ns);
}

static void fill_steps(void) {
  uint64_t state = 7;
  for (size_t i = 0; i < TABLE; i++)
    steps_ns[i] = 20 + (uint32_t)(30 * unit_random(&state));
  for (size_t i = 0; i < TABLE; i += READS)
    for (size_t stage = 0; stage < NUM_STAGES; stage++)
      for (size_t leaf = 0; leaf < NUM_LEAVES; leaf++)
        steps_ns[i + 3 + stage * (2 + 2 * NUM_LEAVES) + 2 * leaf] =
            leaf_ns(&state);
}

// The thread that marks makes the durations; others see time pass, too.
static uint64_t table_clock(void) {
  static size_t at;
  uint32_t step_ns = marking ? steps_ns[at++ % TABLE] : 1000;
  return step_ns +
         atomic_fetch_add_explicit(&now_ns, step_ns, memory_order_relaxed);
}

// ---- one session ----

static uint64_t process_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static pprof_session *start(const bench *self, ppi_codec_library library) {
  pprof_session *session = NULL;
  pprof_sink *sink = NULL;
  pprof_error error = {""};
  ppi_codec_limit(library);
  unlink(self->path);  // a log that is there keeps its name
  bool ok =
      pprof_session_create(NULL, &session, &error) == PPROF_STATUS_OK &&
      pprof_log_writer_create(self->path, &sink, &error) == PPROF_STATUS_OK &&
      pprof_session_add_sink(session, sink) == PPROF_STATUS_OK &&
      pprof_session_start(session) == PPROF_STATUS_OK;
  if (ok) return session;
  fprintf(stderr, "writer: start: %s\n", error.text);
  exit(1);
}

static pprof_stats stats_of(pprof_session *session) {
  pprof_stats stats = {.size = sizeof stats};
  if (pprof_session_stats(session, &stats) != PPROF_STATUS_OK) exit(1);
  return stats;
}

// The stats it ended with.
static pprof_stats stop(pprof_session *session) {
  pprof_error error = {""};
  if (pprof_session_stop(session, &error) != PPROF_STATUS_OK) {
    fprintf(stderr, "writer: stop: %s\n", error.text);
    exit(1);
  }
  pprof_stats stats = stats_of(session);
  pprof_session_destroy(session);
  return stats;
}

static uint64_t run_burst(pprof_session *session, uint64_t *marked_ns) {
  uint64_t from_ns = thread_ns();
  marking = true;
  for (int i = 0; i < CHUNK; i++) run_pipeline();
  marking = false;
  *marked_ns += thread_ns() - from_ns;
  while (pprof_session_flush(session) == PPROF_STATUS_BUSY) continue;
  return (uint64_t)CHUNK * NUM_NAMES;
}

typedef struct cost {
  double marking_ns, behind_ns, bytes;
} cost;

// Bursts that fit the buffer, so that nothing is lost; the waits between them
// are not timed.
static bool run_session(const bench *self, ppi_codec_library library,
                        uint64_t num_ranges, cost *out) {
  pprof_session *session = start(self, library);
  uint64_t before_ns = process_ns(), own_ns = thread_ns(), marked_ns = 0;
  uint64_t num = 0, first_ns = 0;
  // The first burst makes the session's buffer grow to the size that bursts
  // need.
  const uint64_t first = run_burst(session, &first_ns);
  while (num < num_ranges) num += run_burst(session, &marked_ns);
  own_ns = thread_ns() - own_ns;
  pprof_stats stats = stop(session);
  uint64_t all_ns = process_ns() - before_ns;
  struct stat file;
  if (stats.lost || stats.recorded != first + num ||
      stat(self->path, &file) != 0) {
    fprintf(stderr, "writer: %" PRIu64 " of %" PRIu64 " recorded\n",
            stats.recorded, first + num);
    return false;
  }
  out->marking_ns = (double)marked_ns;
  out->behind_ns = (double)(all_ns - own_ns);
  out->bytes = (double)file.st_size;
  return true;
}

// The cost of a range, without the cost of a session that has no ranges.
static bool measure_cost(const bench *self, ppi_codec_library library,
                         cost *out, double *session_ns) {
  cost none;
  if (!run_session(self, library, 0, &none) ||
      !run_session(self, library, self->num_ranges, out))
    return false;
  uint64_t burst = (uint64_t)CHUNK * NUM_NAMES;
  double num = (double)((self->num_ranges + burst - 1) / burst * burst);
  out->marking_ns /= num;
  out->behind_ns = (out->behind_ns - none.behind_ns) / num;
  out->bytes = (out->bytes - none.bytes) / num;
  *session_ns = none.behind_ns;
  return true;
}

static double measure_floor(void) {
  uint64_t from_ns = thread_ns();
  for (int i = 0; i < 100; i++) run_floor();
  return (double)(thread_ns() - from_ns) / 100 / BURST;
}

// Markers use the real clock. The work behind them uses realistic durations,
// because a burst's own compress to next to nothing.
static bool measure(bench *self, ppi_codec_library library, int repetition) {
  writer *with = &self->writers[library];
  cost real, real_durations;
  double session_ns;
  double floor_ns = measure_floor();
  if (!measure_cost(self, library, &real, &session_ns)) return false;
  pprof_clock_inject_(table_clock, 1000000000);
  bool ok = measure_cost(self, library, &real_durations, &session_ns);
  pprof_clock_inject_(NULL, 0);
  floor_ns = (floor_ns + measure_floor()) / 2;
  if (!ok || repetition < 0) return ok;
  with->marking_ns[repetition] = real.marking_ns;
  with->behind_ns[repetition] = real_durations.behind_ns;
  with->ratio[repetition] =
      (real.marking_ns + real_durations.behind_ns) / floor_ns;
  with->bytes[repetition] = real_durations.bytes;
  with->session_ns[repetition] = session_ns;
  return true;
}

// ---- the rate that loses nothing ----

typedef struct marker {
  pthread_t thread;
  double rate;  // ranges a second
  double seconds;
  uint64_t num;
} marker;

static double wall_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *mark_at_rate(void *argument) {
  marker *self = argument;
  const struct timespec pause = {.tv_nsec = 200000};
  double from_s = wall_s(), at_s = 0;
  while ((at_s = wall_s() - from_s) < self->seconds) {
    if ((double)self->num >= at_s * self->rate) {
      nanosleep(&pause, NULL);
      continue;
    }
    run_pipeline();
    self->num += NUM_NAMES;
  }
  return NULL;
}

typedef struct trial {
  uint64_t begun;
  double late_s;  // how long the sinks took for what waited when markers ended
  pprof_stats stats;
} trial;

static trial try_rate(const bench *self, ppi_codec_library library, double rate,
                      double seconds) {
  pprof_session *session = start(self, library);
  marker markers[64] = {{0}};
  trial out = {0};
  int num = 0;
  for (; num < self->num_threads; num++) {
    markers[num].rate = rate / self->num_threads;
    markers[num].seconds = seconds;
    if (pthread_create(&markers[num].thread, NULL, mark_at_rate, &markers[num]))
      exit(1);
  }
  while (num-- > 0) {
    pthread_join(markers[num].thread, NULL);
    out.begun += markers[num].num;
  }
  double from_s = wall_s();
  while (pprof_session_flush(session) == PPROF_STATUS_BUSY) continue;
  out.late_s = wall_s() - from_s;
  out.stats = stop(session);
  if (out.stats.recorded + out.stats.lost == out.begun) return out;
  fprintf(stderr, "writer: %" PRIu64 " begun, %" PRIu64 " accounted for\n",
          out.begun, out.stats.recorded + out.stats.lost);
  exit(1);
}

// The rate is sustained: nearly all ranges were made, and the backlog at the
// end took at most a tenth of the time.
static bool sustains(const bench *self, ppi_codec_library library,
                     double rate) {
  trial got = try_rate(self, library, rate, self->seconds);
  return got.stats.lost == 0 &&
         (double)got.begun >= 0.95 * rate * self->seconds &&
         got.late_s <= 0.1 * self->seconds;
}

static void sweep(bench *self, ppi_codec_library library) {
  double good = 0, bad = 0, rate = 2e6;
  while (!bad && rate < 1e9) {
    if (sustains(self, library, rate))
      good = rate, rate *= 2;
    else
      bad = rate;
  }
  for (int i = 0; i < 3; i++) {
    double middle = (good + bad) / 2;
    if (sustains(self, library, middle))
      good = middle;
    else
      bad = middle;
  }
  self->writers[library].rate = good;
}

// As fast as markers go, for long enough to fill the buffer.
static void overload(const bench *self, ppi_codec_library library) {
  trial got = try_rate(self, library, 1e12, 2 * self->seconds);
  printf(
      "%-12s as fast as they come: %.1f million a second begun, %.1f %% "
      "lost and counted\n",
      self->writers[library].name, (double)got.begun / 2 / self->seconds / 1e6,
      100 * (double)got.stats.lost / (double)got.begun);
}

// ---- all of it ----

static bool prepare(bench *self) {
  static const char *const wanted[] = {"zlib", "libdeflate", "igzip"};
  size_t size = (size_t)self->repetitions * sizeof(double);
  for (int i = 0; i < NUM_WRITERS; i++) {
    writer *with = &self->writers[i];
    ppi_codec_limit((ppi_codec_library)i);
    with->name = wanted[i];
    with->there = strcmp(ppi_codec_writer(), wanted[i]) == 0;
    with->marking_ns = malloc(size);
    with->behind_ns = malloc(size);
    with->ratio = malloc(size);
    with->bytes = malloc(size);
    with->session_ns = malloc(size);
    if (!with->marking_ns || !with->behind_ns || !with->ratio || !with->bytes ||
        !with->session_ns)
      return false;
  }
  return true;
}

static void print_row(const writer *with, const char *what, double figure,
                      const char *unit, double bound) {
  char name[64];
  snprintf(name, sizeof name, "%s, static, %s", what, with->name);
  bench_row(name, figure, unit, bound);
}

static void print_results(bench *self) {
  size_t num = (size_t)self->repetitions;
  printf("%-12s %10s %10s %8s %14s %22s %12s\n", "", "marker ns", "behind ns",
         "ratio", "bytes a range", "million/s, none lost", "session ms");
  for (int i = 0; i < NUM_WRITERS; i++) {
    writer *with = &self->writers[i];
    if (!with->there) {
      printf("%-12s is not on this machine\n", with->name);
      continue;
    }
    printf("%-12s %10.1f %10.1f %8.2f %14.2f %22.1f %12.1f\n", with->name,
           median(with->marking_ns, num), median(with->behind_ns, num),
           median(with->ratio, num), median(with->bytes, num), with->rate / 1e6,
           median(with->session_ns, num) / 1e6);
  }
  printf("\n");
  for (int i = 0; i < NUM_WRITERS; i++)
    if (self->writers[i].there) overload(self, (ppi_codec_library)i);
  for (int i = 0; i < NUM_WRITERS; i++) {
    writer *with = &self->writers[i];
    if (!with->there) continue;
    print_row(with, "whole process, marker to disk", median(with->ratio, num),
              "x floor", process_bound);
    print_row(with, "log, host ranges", median(with->bytes, num), "bytes",
              bytes_bound);
    print_row(with, "lossless rate", with->rate / 1e6, "million/s", 0);
  }
}

static bool run(bench *self) {
  // Repetition -1 warms up.
  for (int repetition = -1; repetition < self->repetitions; repetition++)
    for (int i = 0; i < NUM_WRITERS; i++)
      if (self->writers[i].there &&
          !measure(self, (ppi_codec_library)i, repetition))
        return false;
  for (int i = 0; i < NUM_WRITERS; i++)
    if (self->writers[i].there) sweep(self, (ppi_codec_library)i);
  print_results(self);
  return true;
}

static bool take_options(int argc, char **argv, bench *self) {
  int option;
  while ((option = getopt(argc, argv, "n:r:s:t:")) != -1) {
    double value = optarg ? strtod(optarg, NULL) : 0;
    if (option == '?' || !(value > 0) || value > 1e10) return false;
    if (option == 'n') self->num_ranges = (uint64_t)value;
    if (option == 'r') self->repetitions = (int)fmin(fmax(value, 1), 1000);
    if (option == 's') self->seconds = value;
    if (option == 't') self->num_threads = (int)fmin(fmax(value, 1), 64);
  }
  return optind == argc;
}

int main(int argc, char **argv) {
  bench self = {
      .num_ranges = 1000000, .repetitions = 5, .num_threads = 1, .seconds = 1};
  if (!take_options(argc, argv, &self)) {
    fprintf(stderr,
            "usage: writer [-n RANGES] [-r REPETITIONS] [-s SECONDS] "
            "[-t THREADS, at most 64]\n");
    return 2;
  }
  const char *tmp = getenv("TMPDIR");
  snprintf(self.path, sizeof self.path, "%s/writer.%d.pplog",
           tmp ? tmp : "/tmp", (int)getpid());
  name_sites();
  fill_steps();
  char build[64];
  snprintf(build, sizeof build, "static, pprof %s", pprof_version());
  print_build(build);
  printf("%d repetitions of %" PRIu64 " ranges; rates: %d threads, %.1f s\n\n",
         self.repetitions, self.num_ranges, self.num_threads, self.seconds);
  fflush(stdout);
  bool ok = prepare(&self) && run(&self);
  unlink(self.path);
  return ok ? 0 : 1;
}
