// SPDX-License-Identifier: Apache-2.0
//
// Runs a pipeline built from a line: pipeline SPEC START UNITS PLACES
//
//   SPEC   pools with queues between them, `fetch ~1 | embed 8 x4`; a pool is
//          stages of the same threads, `parse 1, rank ~5@4 x8`
//   stage  NAME WORK..., each in milliseconds: `5` computes, `~5` waits for
//          time to pass, `@5` does so with the one lock, `!5` with ranges
//          around the wait and the lock, `#5` on the CPU backend's device,
//          `%5` on the first OpenCL device
//   START  source, closed:N or regular:MS; steps, for rounds of one thread
//
// REAL_FLOWS=off: no range carries its request.
//
// It prints the rate (1/s), the mean and the P99 of the latency, and the mean
// time in stages, all three in ms.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real_work.h"

enum { MOST_POOLS = 8, MOST_STAGES = 8, MOST_UNITS = 4096, MOST_THREADS = 32 };

struct unit {
  uint64_t id, begin_ns, end_ns;
  pprof_range range;
};

struct stage {
  char name[32], work[32];
  pprof_site site;
};

struct inbox {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct unit *items[MOST_UNITS];
  size_t first, num, places;
};

struct pool {
  struct stage stages[MOST_STAGES];
  size_t num_stages, num_threads, number;
  struct inbox inbox;
};

static bool has_flows = true;
static struct pool pools[MOST_POOLS];
static struct unit units[MOST_UNITS];
static uint64_t served_ns;
static size_t num_pools, num_units, num_begun, num_ended, num_at_once;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_ended = PTHREAD_COND_INITIALIZER;

static void die(const char *what) {
  fprintf(stderr, "pipeline: %s\n", what);
  exit(1);
}

static void put(struct inbox *inbox, struct unit *unit) {
  pthread_mutex_lock(&inbox->mutex);
  while (inbox->num >= inbox->places)
    pthread_cond_wait(&inbox->changed, &inbox->mutex);
  inbox->items[(inbox->first + inbox->num++) % MOST_UNITS] = unit;
  pthread_cond_broadcast(&inbox->changed);
  pthread_mutex_unlock(&inbox->mutex);
}

static struct unit *take(struct inbox *inbox) {
  pthread_mutex_lock(&inbox->mutex);
  while (inbox->num == 0) pthread_cond_wait(&inbox->changed, &inbox->mutex);
  struct unit *unit = inbox->items[inbox->first];
  inbox->first = (inbox->first + 1) % MOST_UNITS;
  inbox->num--;
  pthread_cond_broadcast(&inbox->changed);
  pthread_mutex_unlock(&inbox->mutex);
  return unit;
}

static void begin_unit(void) {
  PPROF_SITE(request, "request", PPROF_CATEGORY_USER_DEFINED);
  pthread_mutex_lock(&counting);
  size_t n = num_begun++;
  pthread_mutex_unlock(&counting);
  if (n >= num_units) return;
  units[n].id = n + 1;
  units[n].begin_ns = real_now_ns();
  units[n].range = pprof_range_begin(&request);
  if (has_flows) pprof_range_flow(units[n].range, n + 1);
  put(&pools[0].inbox, &units[n]);
}

static void end_unit(struct unit *unit) {
  unit->end_ns = real_now_ns();
  pprof_range_end(unit->range);
  pthread_mutex_lock(&counting);
  num_ended++;
  pthread_cond_broadcast(&all_ended);
  pthread_mutex_unlock(&counting);
  if (num_at_once) begin_unit();
}

static void serve(struct pool *pool, uint64_t flow) {
  uint64_t begin = real_now_ns();
  for (size_t i = 0; i < pool->num_stages; i++) {
    pprof_push(&pool->stages[i].site);
    if (flow && has_flows) pprof_flow(flow);
    real_work(pool->stages[i].work, flow);
    pprof_pop();
  }
  __atomic_fetch_add(&served_ns, real_now_ns() - begin, __ATOMIC_RELAXED);
}

static void *serve_all(void *argument) {
  struct pool *pool = argument;
  char name[48];
  snprintf(name, sizeof name, "%s thread", pool->stages[0].name);
  pprof_thread_name(name);
  for (;;) {
    struct unit *unit = take(&pool->inbox);
    serve(pool, unit->id);
    if (pool->number + 1 < num_pools)
      put(&pools[pool->number + 1].inbox, unit);
    else
      end_unit(unit);
  }
  return NULL;
}

static void parse_pool(char *text, size_t places) {
  struct pool *pool = &pools[num_pools];
  char *rest = NULL;
  pool->number = num_pools++;
  pool->num_threads = 1;
  pool->inbox.places = places;
  pthread_mutex_init(&pool->inbox.mutex, NULL);
  pthread_cond_init(&pool->inbox.changed, NULL);
  for (char *one = strtok_r(text, ",", &rest); one;
       one = strtok_r(NULL, ",", &rest)) {
    struct stage *stage = &pool->stages[pool->num_stages++];
    int found = sscanf(one, " %31s %31s x%zu", stage->name, stage->work,
                       &pool->num_threads);
    if (found < 2 || pool->num_stages == MOST_STAGES) die(one);
    stage->site.name = stage->name;
    stage->site.category = PPROF_CATEGORY_USER_DEFINED;
    real_prepare(stage->work);
  }
  if (pool->num_threads > MOST_THREADS) die("too many threads");
}

static void parse(char *spec, size_t places) {
  char *rest = NULL;
  for (char *text = strtok_r(spec, "|", &rest); text;
       text = strtok_r(NULL, "|", &rest)) {
    if (num_pools == MOST_POOLS) die("too many pools");
    parse_pool(text, places);
  }
}

static void start_threads(void) {
  pthread_t thread;
  for (size_t p = 0; p < num_pools; p++)
    for (size_t i = 0; i < pools[p].num_threads; i++)
      if (pthread_create(&thread, NULL, serve_all, &pools[p])) die("no thread");
}

static void run_requests(const char *start) {
  double ms = strchr(start, ':') ? atof(strchr(start, ':') + 1) : 0;
  uint64_t at = real_now_ns();
  if (strncmp(start, "source", 6)) pools[0].inbox.places = MOST_UNITS;
  if (!strncmp(start, "closed", 6)) num_at_once = (size_t)ms;
  start_threads();
  for (size_t i = 0; i < (num_at_once ? num_at_once : num_units); i++) {
    if (!strncmp(start, "regular", 7))
      real_sleep_until_ns(at += (uint64_t)(ms * 1e6));
    begin_unit();
  }
  pthread_mutex_lock(&counting);
  while (num_ended < num_units) pthread_cond_wait(&all_ended, &counting);
  pthread_mutex_unlock(&counting);
}

static void run_steps(void) {
  for (size_t i = 0; i < num_units; i++) {
    units[i].begin_ns = real_now_ns();
    serve(&pools[0], 0);
    pprof_step(1);
    units[i].end_ns = real_now_ns();
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_figures(void) {
  static double ms[MOST_UNITS];
  double sum = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < num_units; i++) {
    sum += ms[i] = (double)(units[i].end_ns - units[i].begin_ns) / 1e6;
    if (units[i].end_ns > last) last = units[i].end_ns;
  }
  qsort(ms, num_units, sizeof *ms, compare);
  double num = (double)num_units;
  printf("%g %g %g %g\n", num * 1e9 / (double)(last - units[0].begin_ns),
         sum / num, ms[num_units * 99 / 100], (double)served_ns / 1e6 / num);
}

int main(int argc, char **argv) {
  pprof_error error;
  if (argc != 5) die("SPEC START UNITS PLACES");
  has_flows = !getenv("REAL_FLOWS");
  num_units = strtoul(argv[3], NULL, 10);
  if (num_units == 0 || num_units >= MOST_UNITS) die("UNITS");
  parse(argv[1], strtoul(argv[4], NULL, 10));
  if (num_pools == 0) die("SPEC");
  if (pprof_start(NULL, &error)) die(error.text);
  pprof_thread_name("main");
  if (!strcmp(argv[2], "steps"))
    run_steps();
  else
    run_requests(argv[2]);
  if (pprof_stop(&error) != PPROF_STATUS_OK) die(error.text);
  print_figures();
  fflush(stdout);
  _exit(0);  // the threads wait for more
}
