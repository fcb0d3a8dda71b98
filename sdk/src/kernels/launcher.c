// SPDX-License-Identifier: Apache-2.0
//
// Keeps the state of a thread that launches kernels.
#include "kernels/launcher.h"

#include <pthread.h>

#include "base/mem.h"

static pthread_key_t key;
static bool has_key;

static void make_key(void) {
  has_key = pthread_key_create(&key, ppi_free) == 0;
}

ppi_launcher *ppi_launcher_self(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  if (!has_key) return NULL;
  ppi_launcher *self = pthread_getspecific(key);
  if (self) return self;
  self = ppi_alloc(sizeof *self);
  if (!self) return NULL;
  *self = (ppi_launcher){0};
  if (pthread_setspecific(key, self) == 0) return self;
  ppi_free(self);
  return NULL;
}
