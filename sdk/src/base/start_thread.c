// SPDX-License-Identifier: Apache-2.0
//
// Starts the library's own threads.
#include "base/start_thread.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

// errno of the last thread that could not be made, until it is reported.
static int last_error;

int ppi_start_thread(pthread_t *out, const char *name, void *(*run)(void *),
                     void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  // The thread inherits the mask.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(out, NULL, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_setname_np(*out, name);
  if (error) __atomic_store_n(&last_error, error, __ATOMIC_RELAXED);
  return error;
}

// For a stack of a thread: without it EAGAIN is not about threads.
static bool has_room_for_a_stack(void) {
  size_t size;
  pthread_attr_t usual;
  pthread_attr_init(&usual);
  pthread_attr_getstacksize(&usual, &size);
  pthread_attr_destroy(&usual);
  void *room = mmap(NULL, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, size);
  return true;
}

const char *ppi_describe_no_memory(char *text, size_t size) {
  int error = __atomic_exchange_n(&last_error, 0, __ATOMIC_RELAXED);
  struct rlimit space;
  if (error && has_room_for_a_stack())
    snprintf(text, size,
             "no thread can be made: %s (ulimit -u, or pids.max of the cgroup)",
             strerror(error));
  else if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    snprintf(
        text, size,
        "out of memory: ulimit -v leaves the process %llu MiB of addresses",
        (unsigned long long)(space.rlim_cur >> 20));
  else
    snprintf(text, size, "out of memory");
  return text;
}
