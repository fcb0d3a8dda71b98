// SPDX-License-Identifier: Apache-2.0
//
// The C library's functions behind those of this library. They are found at the
// first call: other libraries' constructors take locks before ours runs.
#pragma once

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "waits/waits.h"

#define PPI_EXPORTED __attribute__((visibility("default")))
#define PPI_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define PPI_RARELY(condition) __builtin_expect(!!(condition), 0)

typedef const struct timespec *ppi_deadline;

// Type, name, version of a symbol that has an older one with another layout
// ("": any will do), parameters.
// clang-format off
#define PPI_REALS(each) \
  each(int, pthread_mutex_lock, "", (pthread_mutex_t *)) \
  each(int, pthread_mutex_trylock, "", (pthread_mutex_t *)) \
  each(int, pthread_mutex_timedlock, "", (pthread_mutex_t *, ppi_deadline)) \
  each(int, pthread_mutex_clocklock, "", (pthread_mutex_t *, clockid_t, ppi_deadline)) \
  each(int, pthread_mutex_unlock, "", (pthread_mutex_t *)) \
  each(int, pthread_rwlock_rdlock, "", (pthread_rwlock_t *)) \
  each(int, pthread_rwlock_tryrdlock, "", (pthread_rwlock_t *)) \
  each(int, pthread_rwlock_timedrdlock, "", (pthread_rwlock_t *, ppi_deadline)) \
  each(int, pthread_rwlock_clockrdlock, "", (pthread_rwlock_t *, clockid_t, ppi_deadline)) \
  each(int, pthread_rwlock_wrlock, "", (pthread_rwlock_t *)) \
  each(int, pthread_rwlock_trywrlock, "", (pthread_rwlock_t *)) \
  each(int, pthread_rwlock_timedwrlock, "", (pthread_rwlock_t *, ppi_deadline)) \
  each(int, pthread_rwlock_clockwrlock, "", (pthread_rwlock_t *, clockid_t, ppi_deadline)) \
  each(int, pthread_rwlock_unlock, "", (pthread_rwlock_t *)) \
  each(int, pthread_cond_wait, "GLIBC_2.3.2", (pthread_cond_t *, pthread_mutex_t *)) \
  each(int, pthread_cond_timedwait, "GLIBC_2.3.2", (pthread_cond_t *, pthread_mutex_t *, ppi_deadline)) \
  each(int, pthread_cond_clockwait, "", (pthread_cond_t *, pthread_mutex_t *, clockid_t, ppi_deadline)) \
  each(int, pthread_cond_signal, "GLIBC_2.3.2", (pthread_cond_t *)) \
  each(int, pthread_cond_broadcast, "GLIBC_2.3.2", (pthread_cond_t *)) \
  each(int, sem_wait, "", (sem_t *)) \
  each(int, sem_trywait, "", (sem_t *)) \
  each(int, sem_timedwait, "", (sem_t *, ppi_deadline)) \
  each(int, sem_clockwait, "", (sem_t *, clockid_t, ppi_deadline)) \
  each(int, sem_post, "", (sem_t *)) \
  each(int, pthread_join, "", (pthread_t, void **)) \
  each(int, pthread_tryjoin_np, "", (pthread_t, void **)) \
  each(int, pthread_timedjoin_np, "", (pthread_t, void **, ppi_deadline)) \
  each(int, pthread_clockjoin_np, "", (pthread_t, void **, clockid_t, ppi_deadline)) \
  each(int, pthread_barrier_wait, "", (pthread_barrier_t *)) \
  each(int, poll, "", (struct pollfd *, nfds_t, int)) \
  each(int, ppoll, "", (struct pollfd *, nfds_t, ppi_deadline, const sigset_t *)) \
  each(int, epoll_wait, "", (int, struct epoll_event *, int, int)) \
  each(int, epoll_pwait, "", (int, struct epoll_event *, int, int, const sigset_t *)) \
  each(int, select, "", (int, fd_set *, fd_set *, fd_set *, struct timeval *)) \
  each(int, accept, "", (int, struct sockaddr *, socklen_t *)) \
  each(int, accept4, "", (int, struct sockaddr *, socklen_t *, int)) \
  each(ssize_t, read, "", (int, void *, size_t)) \
  each(ssize_t, recv, "", (int, void *, size_t, int)) \
  each(ssize_t, recvfrom, "", (int, void *, size_t, int, struct sockaddr *, socklen_t *)) \
  each(ssize_t, recvmsg, "", (int, struct msghdr *, int)) \
  each(long, syscall, "", (long, ...))
// clang-format on

#define PPI_MEMBER(type, name, version, parameters) type(*name) parameters;
typedef struct ppi_reals {
  PPI_REALS(PPI_MEMBER)
  const pprof_wait_table_ *table;  // never NULL
  uint32_t ready;                  // atomic
} ppi_reals;
extern ppi_reals ppi_reals_found;
void ppi_reals_find(void);

// First of all ppi_records: the table in which nothing is found yet is on, so
// that what is off looks at one word.
static inline const ppi_reals *ppi_real(void) {
  return &ppi_reals_found;
}
static inline bool ppi_is_on(const ppi_reals *real) {
  return PPI_RARELY(__atomic_load_n(&real->table->on, __ATOMIC_RELAXED));
}
static inline bool ppi_records(const ppi_reals *real) {
  if (!ppi_is_on(real)) return false;
  if (PPI_USUALLY(__atomic_load_n(&real->ready, __ATOMIC_ACQUIRE))) return true;
  ppi_reals_find();
  return ppi_is_on(real);
}

// Call it before the call that ends waits for the object.
static inline void ppi_release(const ppi_reals *real,
                               const volatile void *object) {
  uint32_t at = ppi_wait_find(real->table, object);
  if (PPI_RARELY(at != PPI_WAIT_UNKNOWN)) pprof_wait_release_(at);
}

// A wait that ends with its block, also if the thread is cancelled in it.
typedef struct ppi_waiting {
  pprof_wait_ wait;
  bool is_open, timed_out;
} ppi_waiting;
static inline void ppi_end_waiting(ppi_waiting *waiting) {
  int error = errno;
  if (waiting->is_open) pprof_wait_end_(&waiting->wait, waiting->timed_out);
  errno = error;
}
static inline void ppi_begin_waiting(ppi_waiting *waiting,
                                     const volatile void *object,
                                     ppi_wait_kind kind, const void *caller) {
  int error = errno;
  waiting->timed_out = false;
  waiting->is_open = pprof_wait_begin_(&waiting->wait, object, kind, caller);
  errno = error;
}
#define PPI_CALLER __builtin_return_address(0)
#define PPI_WAITING_OF(name, object, kind, caller)            \
  __attribute__((cleanup(ppi_end_waiting))) ppi_waiting name; \
  ppi_begin_waiting(&name, object, kind, caller)
#define PPI_WAITING(name, object, kind) \
  PPI_WAITING_OF(name, object, kind, PPI_CALLER)
// Recording is a function of its own, so that the usual one has no frame.
#define PPI_APART static __attribute__((noinline))
