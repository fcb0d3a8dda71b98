// SPDX-License-Identifier: Apache-2.0
#include "base/wait.h"

#include <time.h>

#define SECOND_NS 1000000000u

uint64_t ppi_monotonic_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

void ppi_wait_init(pthread_cond_t *cond) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(cond, &attributes);
  pthread_condattr_destroy(&attributes);
}

bool ppi_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                    uint64_t deadline_ns) {
  const struct timespec until = {.tv_sec = (time_t)(deadline_ns / SECOND_NS),
                                 .tv_nsec = (long)(deadline_ns % SECOND_NS)};
  return pthread_cond_timedwait(cond, mutex, &until) == 0;
}
