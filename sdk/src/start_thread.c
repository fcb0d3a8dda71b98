// SPDX-License-Identifier: Apache-2.0
#include "start_thread.h"

#include <signal.h>

int ppi_start_thread(pthread_t *out, const char *name, void *(*run)(void *),
                     void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  // The thread inherits the mask.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(out, NULL, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_setname_np(*out, name);
  return error;
}
