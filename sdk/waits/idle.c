// SPDX-License-Identifier: Apache-2.0
//
// Records waits for input from outside if `waits.io` asks for them: a service
// is idle there.
#include <fcntl.h>

#include "real.h"

static bool records_idle(const ppi_reals *real) {
  return ppi_records(real) &&
         __atomic_load_n(&real->table->idle, __ATOMIC_RELAXED);
}

// Whether a call for input waits: nothing is there yet, as never of a regular
// file.
static bool waits_for_input(const ppi_reals *real, int file, int flags) {
  struct pollfd one = {.fd = file, .events = POLLIN};
  int error = errno;
  bool waits = !(flags & MSG_DONTWAIT) && real->poll(&one, 1, 0) == 0 &&
               !(fcntl(file, F_GETFL) & O_NONBLOCK);
  errno = error;
  return waits;
}

// The object of such a wait is the call's name.
#define IDLE(type, call, parameters, arguments, waits)                \
  PPI_EXPORTED type call parameters {                                 \
    static const char name[] = #call;                                 \
    const ppi_reals *real = ppi_real();                               \
    if (!records_idle(real) || !(waits)) return real->call arguments; \
    PPI_WAITING(waiting, name, PPI_WAIT_IDLE);                        \
    return real->call arguments;                                      \
  }

IDLE(int, poll, (struct pollfd * files, nfds_t num, int timeout),
     (files, num, timeout), timeout != 0)
IDLE(int, ppoll,
     (struct pollfd * files, nfds_t num, ppi_deadline timeout,
      const sigset_t *signals),
     (files, num, timeout, signals),
     !timeout || timeout->tv_sec || timeout->tv_nsec)
IDLE(int, epoll_wait,
     (int file, struct epoll_event *events, int most, int timeout),
     (file, events, most, timeout), timeout != 0)
IDLE(int, epoll_pwait,
     (int file, struct epoll_event *events, int most, int timeout,
      const sigset_t *signals),
     (file, events, most, timeout, signals), timeout != 0)
IDLE(int, select,
     (int num, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout),
     (num, in, out, other, timeout),
     !timeout || timeout->tv_sec || timeout->tv_usec)
IDLE(int, accept, (int file, struct sockaddr *from, socklen_t *len),
     (file, from, len), waits_for_input(real, file, 0))
IDLE(int, accept4, (int file, struct sockaddr *from, socklen_t *len, int flags),
     (file, from, len, flags), waits_for_input(real, file, 0))
IDLE(ssize_t, read, (int file, void *out, size_t size), (file, out, size),
     waits_for_input(real, file, 0))
IDLE(ssize_t, recv, (int file, void *out, size_t size, int flags),
     (file, out, size, flags), waits_for_input(real, file, flags))
IDLE(ssize_t, recvfrom,
     (int file, void *out, size_t size, int flags, struct sockaddr *from,
      socklen_t *len),
     (file, out, size, flags, from, len), waits_for_input(real, file, flags))
IDLE(ssize_t, recvmsg, (int file, struct msghdr *out, int flags),
     (file, out, flags), waits_for_input(real, file, flags))
