// SPDX-License-Identifier: Apache-2.0
//
// Waits on a condition until a time of CLOCK_MONOTONIC.
#include "base/wait.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define SECOND_NS 1000000000u

static uint64_t as_ns(const struct timespec *time) {
  return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

uint64_t ppi_monotonic_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return as_ns(&time);
}

static uint64_t kernel_ns(void) {
  struct timespec time = {0, 0};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return as_ns(&time);
}

void ppi_wait_init(pthread_cond_t *cond) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(cond, &attributes);
  pthread_condattr_destroy(&attributes);
}

static bool wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex,
                    uint64_t until_ns) {
  const struct timespec until = {.tv_sec = (time_t)(until_ns / SECOND_NS),
                                 .tv_nsec = (long)(until_ns % SECOND_NS)};
  return pthread_cond_timedwait(cond, mutex, &until) == 0;
}

// A program may replace clock_gettime (a test's fake clock).
// pthread_cond_timedwait then uses that clock, or the kernel's if it is the C
// library's. Waits for the earlier of the two moments. If less time than asked
// for has passed then, the other moment is the right one.
bool ppi_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                    uint64_t deadline_ns) {
  uint64_t now_ns = ppi_monotonic_ns(), began_ns = kernel_ns();
  uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
  uint64_t by_kernel_ns = began_ns + left_ns;
  if (wait_on(cond, mutex, PPI_MIN(deadline_ns, by_kernel_ns))) return true;
  return kernel_ns() - began_ns < left_ns &&
         wait_on(cond, mutex, PPI_MAX(deadline_ns, by_kernel_ns));
}
