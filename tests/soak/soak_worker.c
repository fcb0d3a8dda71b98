// SPDX-License-Identifier: Apache-2.0
//
// soak_worker COUNTS LIFE_MS END SEED: a service that marks for LIFE_MS, then
// ends in the way that END names. Threads and names come and go. COUNTS is a
// file of one `counts`, which outlives the process: what was begun, and what
// had returned.
#include <fcntl.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STAYING 3
#define VISITORS 40  // names a visiting thread may find in use

typedef struct counts {
  _Atomic uint64_t begun, done;
  _Atomic uint64_t threads, names;
  _Atomic uint64_t stopped;  // 1 + what stop answered
  char why[200];             // what stop said
} counts;

static counts *own;
static atomic_bool leaving;

PPROF_SITE(request, "request", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(point, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(level, "level", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(wander, "wander", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(on_device, "on device", PPROF_CATEGORY_INFERENCE);

static void begin(void) {
  atomic_fetch_add(&own->begun, 1);
}

static void done(void) {
  atomic_fetch_add(&own->done, 1);
}

static void wait_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static uint64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void push_new_name(void) {
  char name[32];
  snprintf(name, sizeof name, "job %llu",
           (unsigned long long)atomic_fetch_add(&own->names, 1));
  begin();
  pprof_push_name(name, 0);
  done();
  pprof_pop();
}

static void push_known_name(unsigned n) {
  char name[32];
  snprintf(name, sizeof name, "stage %u", n % VISITORS);
  begin();
  pprof_push_name(name, PPROF_CATEGORY_CPU_TASK);
  done();
}

static void serve(unsigned n) {
  begin();
  pprof_push(&request);
  done();
  pprof_flow(n + 1);
  push_known_name(n);
  begin();
  pprof_mark(&point);
  done();
  begin();
  pprof_count(&level, n % 100);
  done();
  pprof_pop();
  pprof_pop();
}

static void *visit(void *seed) {
  atomic_fetch_add(&own->threads, 1);
  push_new_name();
  serve((unsigned)(uintptr_t)seed);
  push_new_name();
  return NULL;
}

static void use_device(pprof_device *device, pprof_cpu_stream *stream) {
  begin();
  pprof_device_push(device, stream, &on_device);
  done();
  pprof_device_pop(device, stream);
  begin();
  pprof_range range = pprof_range_begin(&wander);
  done();
  pprof_range_end(range);
}

static void *stay(void *seed) {
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *stream = NULL;
  if (pprof_cpu_stream_create(&stream) != PPROF_STATUS_OK) _exit(3);
  for (unsigned n = (unsigned)(uintptr_t)seed; !leaving; n++) {
    serve(n);
    if (n % 8 == 0) use_device(device, stream);
    wait_ms(5);
  }
  pprof_cpu_stream_destroy(stream);
  return NULL;
}

static void end_as(const char *how) {
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "_exit") == 0) _exit(0);
  volatile int *volatile nowhere = NULL;
  if (strcmp(how, "segv") == 0) *nowhere = 1;
}

static counts *map_counts(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(counts)) != 0) return NULL;
  void *memory =
      mmap(NULL, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? NULL : memory;
}

// A visiting thread each 20 ms, joined before the next one comes.
static void run_until(uint64_t end, unsigned seed) {
  for (unsigned n = seed; now_ms() < end; n++) {
    pthread_t visitor;
    if (pthread_create(&visitor, NULL, visit, (void *)(uintptr_t)n) == 0)
      pthread_join(visitor, NULL);
    wait_ms(20);
  }
}

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};
  if (argc != 5 || !(own = map_counts(argv[1]))) return 2;
  setrlimit(RLIMIT_CORE, &no_core);
  uint64_t end = now_ms() + strtoull(argv[2], NULL, 10);
  unsigned seed = (unsigned)strtoul(argv[4], NULL, 10);
  pprof_error error = {{0}};
  if (pprof_start(NULL, &error) != PPROF_STATUS_OK) {
    fprintf(stderr, "soak_worker: %s\n", error.text);
    return 4;
  }
  pthread_t staying[STAYING];
  for (uintptr_t i = 0; i < STAYING; i++)
    if (pthread_create(&staying[i], NULL, stay, (void *)(seed + i)) != 0)
      return 5;
  run_until(end, seed);
  // Any of the others may be in a marker then.
  end_as(argv[3]);
  leaving = true;
  for (int i = 0; i < STAYING; i++) pthread_join(staying[i], NULL);
  if (strcmp(argv[3], "exit") == 0) return 0;
  own->stopped = 1 + (uint64_t)pprof_stop(&error);
  snprintf(own->why, sizeof own->why, "%.199s", error.text);
  return 0;
}
