// SPDX-License-Identifier: Apache-2.0
//
// Records waits for signals of other threads: conditions, semaphores, ends of
// threads, barriers, and futexes of programs that call the system through the C
// library (C++20 atomics, std::future, Rust).
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "real.h"

// The wait releases the mutex.
PPI_EXPORTED int pthread_cond_wait(pthread_cond_t *condition,
                                   pthread_mutex_t *mutex) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_cond_wait(condition, mutex);
  PPI_WAITING(waiting, condition, PPI_WAIT_CONDITION);
  ppi_release(real, mutex);
  return real->pthread_cond_wait(condition, mutex);
}

PPI_EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition,
                                        pthread_mutex_t *mutex,
                                        ppi_deadline until) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real))
    return real->pthread_cond_timedwait(condition, mutex, until);
  PPI_WAITING(waiting, condition, PPI_WAIT_CONDITION);
  ppi_release(real, mutex);
  int result = real->pthread_cond_timedwait(condition, mutex, until);
  waiting.timed_out = result == ETIMEDOUT;
  return result;
}

PPI_EXPORTED int pthread_cond_clockwait(pthread_cond_t *condition,
                                        pthread_mutex_t *mutex, clockid_t clock,
                                        ppi_deadline until) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real))
    return real->pthread_cond_clockwait(condition, mutex, clock, until);
  PPI_WAITING(waiting, condition, PPI_WAIT_CONDITION);
  ppi_release(real, mutex);
  int result = real->pthread_cond_clockwait(condition, mutex, clock, until);
  waiting.timed_out = result == ETIMEDOUT;
  return result;
}

PPI_EXPORTED int pthread_cond_signal(pthread_cond_t *condition) {
  const ppi_reals *real = ppi_real();
  if (ppi_records(real)) ppi_release(real, condition);
  return real->pthread_cond_signal(condition);
}

PPI_EXPORTED int pthread_cond_broadcast(pthread_cond_t *condition) {
  const ppi_reals *real = ppi_real();
  if (ppi_records(real)) ppi_release(real, condition);
  return real->pthread_cond_broadcast(condition);
}

// True: it is taken. Otherwise errno is as it was.
static bool try_wait(const ppi_reals *real, sem_t *semaphore) {
  int error = errno;
  if (PPI_USUALLY(real->sem_trywait(semaphore) == 0)) return true;
  errno = error;
  return false;
}

PPI_EXPORTED int sem_wait(sem_t *semaphore) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->sem_wait(semaphore);
  if (try_wait(real, semaphore)) return 0;
  PPI_WAITING(waiting, semaphore, PPI_WAIT_SEMAPHORE);
  return real->sem_wait(semaphore);
}

PPI_EXPORTED int sem_timedwait(sem_t *semaphore, ppi_deadline until) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->sem_timedwait(semaphore, until);
  if (try_wait(real, semaphore)) return 0;
  PPI_WAITING(waiting, semaphore, PPI_WAIT_SEMAPHORE);
  int result = real->sem_timedwait(semaphore, until);
  waiting.timed_out = result != 0 && errno == ETIMEDOUT;
  return result;
}

PPI_EXPORTED int sem_clockwait(sem_t *semaphore, clockid_t clock,
                               ppi_deadline until) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->sem_clockwait(semaphore, clock, until);
  if (try_wait(real, semaphore)) return 0;
  PPI_WAITING(waiting, semaphore, PPI_WAIT_SEMAPHORE);
  int result = real->sem_clockwait(semaphore, clock, until);
  waiting.timed_out = result != 0 && errno == ETIMEDOUT;
  return result;
}

PPI_EXPORTED int sem_post(sem_t *semaphore) {
  const ppi_reals *real = ppi_real();
  if (ppi_records(real)) ppi_release(real, semaphore);
  return real->sem_post(semaphore);
}

// The OS thread, which is part of the number of its clock; 0: it has ended.
static uint32_t number_of(pthread_t thread) {
  clockid_t clock;
  return pthread_getcpuclockid(thread, &clock) == 0 ? ~(uint32_t)(clock >> 3)
                                                    : 0;
}

// Joining a thread that has already ended is no wait.
#define JOIN(call, parameters, arguments)                                      \
  PPI_EXPORTED int call parameters {                                           \
    const ppi_reals *real = ppi_real();                                        \
    if (!ppi_records(real)) return real->call arguments;                       \
    int result = real->pthread_tryjoin_np(thread, out);                        \
    if (result != EBUSY) return result;                                        \
    PPI_WAITING(waiting, (const void *)thread, PPI_WAIT_JOIN);                 \
    if (waiting.is_open) pprof_wait_holder_(&waiting.wait, number_of(thread)); \
    result = real->call arguments;                                             \
    waiting.timed_out = result == ETIMEDOUT;                                   \
    return result;                                                             \
  }

JOIN(pthread_join, (pthread_t thread, void **out), (thread, out))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **out, ppi_deadline until),
     (thread, out, until))
JOIN(pthread_clockjoin_np,
     (pthread_t thread, void **out, clockid_t clock, ppi_deadline until),
     (thread, out, clock, until))

// The last thread to come has ended all waits.
PPI_EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_barrier_wait(barrier);
  ppi_release(real, barrier);
  PPI_WAITING(waiting, barrier, PPI_WAIT_BARRIER);
  return real->pthread_barrier_wait(barrier);
}

typedef struct call_arguments {
  long all[6];
} call_arguments;

static long pass_on(const ppi_reals *real, long number,
                    const call_arguments *with) {
  const long *all = with->all;
  return real->syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

static long wait_for_futex(const ppi_reals *real, const call_arguments *with,
                           const void *caller) {
  __attribute__((cleanup(ppi_end_waiting))) ppi_waiting waiting;
  ppi_begin_waiting(&waiting, (const void *)with->all[0], PPI_WAIT_FUTEX,
                    caller);
  long result = pass_on(real, SYS_futex, with);
  waiting.timed_out = result < 0 && errno == ETIMEDOUT;
  return result;
}

// It reads six arguments, also where the caller gives less: no sanitizer may
// check that memory.
__attribute__((no_sanitize_address)) PPI_EXPORTED long syscall(long number,
                                                               ...) {
  const ppi_reals *real = ppi_real();
  call_arguments with;
  va_list list;
  va_start(list, number);
  for (size_t i = 0; i < 6; i++) with.all[i] = va_arg(list, long);
  va_end(list);
  if (!ppi_records(real) || number != SYS_futex)
    return pass_on(real, number, &with);
  int what = (int)with.all[1] & FUTEX_CMD_MASK;
  if (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET)
    return wait_for_futex(real, &with, __builtin_return_address(0));
  if (what == FUTEX_WAKE || what == FUTEX_WAKE_BITSET)
    ppi_release(real, (const void *)with.all[0]);
  return pass_on(real, SYS_futex, &with);
}
