// SPDX-License-Identifier: Apache-2.0
//
// Records waits for input from outside if `waits.io` asks for them: a service
// is idle there.
#include <sys/stat.h>

#include "real.h"

static bool records_idle(const ppi_reals *real) {
  return ppi_records(real) &&
         __atomic_load_n(&real->table->idle, __ATOMIC_RELAXED);
}

// The object of such a wait is the call's name.
#define IDLE(name) PPI_WAITING(waiting, name, PPI_WAIT_IDLE)

PPI_EXPORTED int poll(struct pollfd *files, nfds_t num, int timeout) {
  static const char name[] = "poll";
  const ppi_reals *real = ppi_real();
  if (!records_idle(real) || timeout == 0)
    return real->poll(files, num, timeout);
  IDLE(name);
  return real->poll(files, num, timeout);
}

PPI_EXPORTED int epoll_wait(int file, struct epoll_event *events, int most,
                            int timeout) {
  static const char name[] = "epoll_wait";
  const ppi_reals *real = ppi_real();
  if (!records_idle(real) || timeout == 0)
    return real->epoll_wait(file, events, most, timeout);
  IDLE(name);
  return real->epoll_wait(file, events, most, timeout);
}

PPI_EXPORTED int select(int num, fd_set *in, fd_set *out, fd_set *other,
                        struct timeval *timeout) {
  static const char name[] = "select";
  const ppi_reals *real = ppi_real();
  if (!records_idle(real)) return real->select(num, in, out, other, timeout);
  IDLE(name);
  return real->select(num, in, out, other, timeout);
}

PPI_EXPORTED int accept(int file, struct sockaddr *from, socklen_t *len) {
  static const char name[] = "accept";
  const ppi_reals *real = ppi_real();
  if (!records_idle(real)) return real->accept(file, from, len);
  IDLE(name);
  return real->accept(file, from, len);
}

static bool is_pipe_or_socket(int file) {
  struct stat about;
  int error = errno;
  bool is_one = fstat(file, &about) == 0 &&
                (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
  errno = error;
  return is_one;
}

PPI_EXPORTED ssize_t read(int file, void *out, size_t size) {
  static const char name[] = "read";
  const ppi_reals *real = ppi_real();
  if (!records_idle(real) || !is_pipe_or_socket(file))
    return real->read(file, out, size);
  IDLE(name);
  return real->read(file, out, size);
}
