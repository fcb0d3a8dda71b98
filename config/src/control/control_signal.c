// SPDX-License-Identifier: Apache-2.0
//
// Takes SIGUSR1 or SIGUSR2 as a trigger, if the configuration asks for it.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "control/control.h"

// The handler's state. The handler may run at any moment, even after the signal
// was given back, if a later handler calls ours.
typedef struct taken {
  bool installed;
  bool counts;   // a thread waits for it; atomic
  int busy;      // handlers that may be writing; atomic
  int fd;        // a pipe's end to write; -1: none yet; atomic
  int reader;    // its other end
  ppi_fd_id id;  // of both
  pid_t owner;   // the process that made it
  struct sigaction former;
} taken;

static taken signals[2] = {{.fd = -1, .reader = -1}, {.fd = -1, .reader = -1}};

static taken *taken_of(int number) {
  return &signals[number == SIGUSR2];
}

static void pass_on(const struct sigaction *former, int number, siginfo_t *info,
                    void *context) {
  if (former->sa_flags & SA_SIGINFO)
    former->sa_sigaction(number, info, context);
  else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN)
    former->sa_handler(number);
}

static void handle(int number, siginfo_t *info, void *context) {
  int before = errno;
  taken *signal = taken_of(number);
  int fd;
  __atomic_add_fetch(&signal->busy, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&signal->counts, __ATOMIC_SEQ_CST) &&
      (fd = __atomic_load_n(&signal->fd, __ATOMIC_ACQUIRE),
       ppi_fd_is(fd, &signal->id)) &&
      write(fd, "", 1) < 0)
    errno = before;
  __atomic_sub_fetch(&signal->busy, 1, __ATOMIC_RELEASE);
  pass_on(&signal->former, number, info, context);
  errno = before;
}

// A different handler that is there now came after ours and calls ours. One
// that does not call it cannot be distinguished; then the signal is its own.
static bool is_reached(const taken *signal, int number) {
  struct sigaction now;
  return signal->installed && sigaction(number, NULL, &now) == 0 &&
         ((now.sa_flags & SA_SIGINFO) ||
          (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN));
}

// A handler that has begun to write must not find another file under the same
// number. In a forked child, handlers of the parent's other threads never
// continue.
static void close_event(taken *signal) {
  while (signal->owner == getpid() &&
         __atomic_load_n(&signal->busy, __ATOMIC_SEQ_CST))
    sched_yield();
  signal->busy = 0;
  ppi_fd_close(signal->fd, &signal->id);
  ppi_fd_close(signal->reader, &signal->id);
  signal->reader = -1;
  __atomic_store_n(&signal->fd, -1, __ATOMIC_RELAXED);
}

static int open_event(taken *signal) {
  close_event(signal);
  signal->owner = getpid();
  int ends[2];
  if (ppi_fd_pipe(ends) != 0) return -1;
  signal->reader = ends[0];
  signal->id = ppi_fd_id_of(ends[0]);
  // Pairs with the handler's acquire: `id` and `reader` are set.
  __atomic_store_n(&signal->fd, ends[1], __ATOMIC_RELEASE);
  return signal->reader;
}

pprof_status ppi_control_take_signal(int number, int *out_fd,
                                     pprof_error *error) {
  taken *signal = taken_of(number);
  __atomic_store_n(&signal->counts, false, __ATOMIC_SEQ_CST);
  int fd = open_event(signal);
  if (fd < 0)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "control: %s",
                    strerror(errno));
  struct sigaction ours = {.sa_sigaction = handle}, replaced;
  // The previous handler is stored before ours can need it.
  if (!is_reached(signal, number)) {
    if (sigaction(number, NULL, &signal->former) != 0)
      return ppi_fail(error, PPROF_STATUS_IO, "signal %d: %s", number,
                      strerror(errno));
    ours.sa_mask = signal->former.sa_mask;
    ours.sa_flags =
        SA_SIGINFO | SA_RESTART | (signal->former.sa_flags & SA_ONSTACK);
    if (sigaction(number, &ours, &replaced) != 0)
      return ppi_fail(error, PPROF_STATUS_IO, "signal %d: %s", number,
                      strerror(errno));
    signal->former = replaced;
    signal->installed = true;
  }
  __atomic_store_n(&signal->counts, true, __ATOMIC_RELEASE);
  *out_fd = fd;
  return PPROF_STATUS_OK;
}

// A handler that came after ours has ours as its previous one. Ours then stays
// and only passes the signal on.
void ppi_control_give_signal(int number) {
  taken *signal = taken_of(number);
  struct sigaction now;
  __atomic_store_n(&signal->counts, false, __ATOMIC_SEQ_CST);
  close_event(signal);
  if (!signal->installed || sigaction(number, NULL, &now) != 0 ||
      !(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != handle)
    return;
  if (sigaction(number, &signal->former, NULL) == 0) signal->installed = false;
}
