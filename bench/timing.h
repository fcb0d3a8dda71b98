// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks share these: the floor below all costs, a thread's own time,
// and medians.
#pragma once

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

// A burst takes 64 KiB of the session's 64 MiB, a quarter of its 3 960 open
// ranges, and is drained untimed.
enum { BURST = 2000, MAX_REPETITIONS = 10000, MAX_THREADS = 2 };

// The least that recording a range takes: two reads of the clock and two
// 16-byte stores to warm memory.
static inline void run_floor(void) {
  static __thread uint64_t record[64][4];
  for (unsigned i = 0; i < BURST; i++) {
    uint64_t *slot = record[i % 64];
    slot[0] = ppi_clock_counter();
    slot[1] = i;
    slot[2] = ppi_clock_counter();
    slot[3] = i;
    __asm__ volatile("" ::: "memory");
  }
}

// CPU time of this thread alone: other work on the machine does not count.
static inline uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void pin(int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  int num = CPU_COUNT(&allowed);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE && num > 0; cpu++)
    if (CPU_ISSET(cpu, &allowed) && seen++ == number % num) CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one)) return;
}

static inline int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Sorts `values`.
static inline double median(double *values, size_t num) {
  qsort(values, num, sizeof *values, compare_doubles);
  return values[num / 2];
}

static inline void print_build(const char *build) {
  char line[256], cpu[200] = "unknown processor";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "model name : %199[^\n]", cpu) == 1) break;
  if (file) fclose(file);
  struct utsname name;
  uname(&name);
  double load = 0;
  getloadavg(&load, 1);
  printf("machine: %s, %ld CPUs, %s %s, load %.1f\n", cpu,
         sysconf(_SC_NPROCESSORS_ONLN), name.machine, name.release, load);
  printf("build: %s, gcc %s\n", build, __VERSION__);
}

static inline void print_machine(const char *build, int repetitions) {
  print_build(build);
  printf("medians of %d repetitions of %d pairs, pinned, thread CPU time\n\n",
         repetitions, (int)BURST);
}
