// SPDX-License-Identifier: Apache-2.0
//
// Records waits for mutexes and read-write locks. Without contention, a lock is
// a trylock. With contention, it looks up the holder every tenth of a second,
// so that a hang shows the holder.
#include "real.h"

#define LOOK_NS 100000000

static struct timespec next_look(void) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_nsec += LOOK_NS;
  if (at.tv_nsec >= 1000000000) {
    at.tv_nsec -= 1000000000;
    at.tv_sec++;
  }
  return at;
}

#ifdef __GLIBC__
static uint32_t owner_of(const pthread_mutex_t *mutex) {
  return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}
static uint32_t writer_of(const pthread_rwlock_t *lock) {
  return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer,
                                   __ATOMIC_RELAXED);
}
#else
#define owner_of(mutex) 0
#define writer_of(lock) 0
#endif

// A call with a time-out of its own.
#define TIMED(call, attempt, kind, holder, parameters, arguments)         \
  PPI_EXPORTED int call parameters {                                      \
    const ppi_reals *real = ppi_real();                                   \
    if (!ppi_records(real)) return real->call arguments;                  \
    int result = real->attempt(lock);                                     \
    if (PPI_USUALLY(result != EBUSY)) return result;                      \
    PPI_WAITING(waiting, lock, kind);                                     \
    if (waiting.is_open) pprof_wait_holder_(&waiting.wait, holder(lock)); \
    result = real->call arguments;                                        \
    waiting.timed_out = result == ETIMEDOUT;                              \
    return result;                                                        \
  }

// The calls that take a lock: TYPE_HOW, TYPE_timedHOW, TYPE_clockHOW. Without a
// time-out, the wait's answer is that of TYPE_timedHOW, except for its
// time-out.
#define LOCKS(type, how, kind, holder)                                     \
  PPI_APART int wait_##type##_##how(const ppi_reals *real, type##_t *lock, \
                                    const void *caller) {                  \
    PPI_WAITING_OF(waiting, lock, kind, caller);                           \
    if (!waiting.is_open) return real->type##_##how(lock);                 \
    for (;;) {                                                             \
      struct timespec until = next_look();                                 \
      pprof_wait_holder_(&waiting.wait, holder(lock));                     \
      int ended = real->type##_timed##how(lock, &until);                   \
      if (ended != ETIMEDOUT) return ended;                                \
    }                                                                      \
  }                                                                        \
  PPI_APART int take_##type##_##how(const ppi_reals *real, type##_t *lock, \
                                    const void *caller) {                  \
    int result = real->type##_try##how(lock);                              \
    if (PPI_USUALLY(result != EBUSY)) return result;                       \
    return wait_##type##_##how(real, lock, caller);                        \
  }                                                                        \
  PPI_EXPORTED int type##_##how(type##_t *lock) {                          \
    const ppi_reals *real = ppi_real();                                    \
    if (!ppi_records(real)) return real->type##_##how(lock);               \
    return take_##type##_##how(real, lock, PPI_CALLER);                    \
  }                                                                        \
  TIMED(type##_timed##how, type##_try##how, kind, holder,                  \
        (type##_t * lock, ppi_deadline until), (lock, until))              \
  TIMED(type##_clock##how, type##_try##how, kind, holder,                  \
        (type##_t * lock, clockid_t clock, ppi_deadline until),            \
        (lock, clock, until))

LOCKS(pthread_mutex, lock, PPI_WAIT_MUTEX, owner_of)
LOCKS(pthread_rwlock, rdlock, PPI_WAIT_RWLOCK, writer_of)
LOCKS(pthread_rwlock, wrlock, PPI_WAIT_RWLOCK, writer_of)

#define UNLOCK(type)                                                    \
  PPI_APART int release_##type(const ppi_reals *real, type##_t *lock) { \
    ppi_release(real, lock);                                            \
    return real->type##_unlock(lock);                                   \
  }                                                                     \
  PPI_EXPORTED int type##_unlock(type##_t *lock) {                      \
    const ppi_reals *real = ppi_real();                                 \
    if (!ppi_records(real)) return real->type##_unlock(lock);           \
    return release_##type(real, lock);                                  \
  }

UNLOCK(pthread_mutex)
UNLOCK(pthread_rwlock)
