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

// The answer of `timed`, except for its time-out; `plain` where nothing
// records.
#define LOCK(lock, kind, holder, plain, timed)         \
  do {                                                 \
    PPI_WAITING_OF(waiting, lock, kind, caller);       \
    if (!waiting.is_open) return plain(lock);          \
    for (;;) {                                         \
      struct timespec until = next_look();             \
      pprof_wait_holder_(&waiting.wait, holder(lock)); \
      int ended = timed(lock, &until);                 \
      if (ended != ETIMEDOUT) return ended;            \
    }                                                  \
  } while (0)

PPI_APART int wait_for_mutex(const ppi_reals *real, pthread_mutex_t *mutex,
                             const void *caller) {
  LOCK(mutex, PPI_WAIT_MUTEX, owner_of, real->pthread_mutex_lock,
       real->pthread_mutex_timedlock);
}

PPI_APART int lock_mutex(const ppi_reals *real, pthread_mutex_t *mutex,
                         const void *caller) {
  int result = real->pthread_mutex_trylock(mutex);
  if (PPI_USUALLY(result != EBUSY)) return result;
  return wait_for_mutex(real, mutex, caller);
}

PPI_EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_mutex_lock(mutex);
  return lock_mutex(real, mutex, PPI_CALLER);
}

// A call with a time-out of its own.
#define TIMED(call, parameters, arguments, lock, kind, attempt, holder)   \
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

TIMED(pthread_mutex_timedlock, (pthread_mutex_t * mutex, ppi_deadline until),
      (mutex, until), mutex, PPI_WAIT_MUTEX, pthread_mutex_trylock, owner_of)
TIMED(pthread_mutex_clocklock,
      (pthread_mutex_t * mutex, clockid_t clock, ppi_deadline until),
      (mutex, clock, until), mutex, PPI_WAIT_MUTEX, pthread_mutex_trylock,
      owner_of)

PPI_APART int unlock_mutex(const ppi_reals *real, pthread_mutex_t *mutex) {
  ppi_release(real, mutex);
  return real->pthread_mutex_unlock(mutex);
}

PPI_EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_mutex_unlock(mutex);
  return unlock_mutex(real, mutex);
}

PPI_APART int lock_to_read(const ppi_reals *real, pthread_rwlock_t *lock,
                           const void *caller) {
  int result = real->pthread_rwlock_tryrdlock(lock);
  if (PPI_USUALLY(result != EBUSY)) return result;
  LOCK(lock, PPI_WAIT_RWLOCK, writer_of, real->pthread_rwlock_rdlock,
       real->pthread_rwlock_timedrdlock);
}

PPI_EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_rwlock_rdlock(lock);
  return lock_to_read(real, lock, PPI_CALLER);
}

PPI_APART int lock_to_write(const ppi_reals *real, pthread_rwlock_t *lock,
                            const void *caller) {
  int result = real->pthread_rwlock_trywrlock(lock);
  if (PPI_USUALLY(result != EBUSY)) return result;
  LOCK(lock, PPI_WAIT_RWLOCK, writer_of, real->pthread_rwlock_wrlock,
       real->pthread_rwlock_timedwrlock);
}

PPI_EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_rwlock_wrlock(lock);
  return lock_to_write(real, lock, PPI_CALLER);
}

TIMED(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, ppi_deadline until),
      (lock, until), lock, PPI_WAIT_RWLOCK, pthread_rwlock_tryrdlock, writer_of)
TIMED(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, ppi_deadline until),
      (lock, until), lock, PPI_WAIT_RWLOCK, pthread_rwlock_trywrlock, writer_of)
TIMED(pthread_rwlock_clockrdlock,
      (pthread_rwlock_t * lock, clockid_t clock, ppi_deadline until),
      (lock, clock, until), lock, PPI_WAIT_RWLOCK, pthread_rwlock_tryrdlock,
      writer_of)
TIMED(pthread_rwlock_clockwrlock,
      (pthread_rwlock_t * lock, clockid_t clock, ppi_deadline until),
      (lock, clock, until), lock, PPI_WAIT_RWLOCK, pthread_rwlock_trywrlock,
      writer_of)

PPI_APART int unlock_rwlock(const ppi_reals *real, pthread_rwlock_t *lock) {
  ppi_release(real, lock);
  return real->pthread_rwlock_unlock(lock);
}

PPI_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  const ppi_reals *real = ppi_real();
  if (!ppi_records(real)) return real->pthread_rwlock_unlock(lock);
  return unlock_rwlock(real, lock);
}
