// SPDX-License-Identifier: Apache-2.0
//
// Keeps names by OS thread id, in one table.
#include "mark/thread_name.h"

#include <pthread.h>

#include "mark/thread_impl.h"

#define PPI_OS_NAMES 256u

// Given to a thread by its OS id, perhaps before its first marker.
typedef struct ppi_os_name {
  uint32_t tid;  // 0: free
  char name[PPI_THREAD_NAME];
} ppi_os_name;

static struct {
  bool has_any;
  ppi_os_name names[PPI_OS_NAMES];
} os;

void ppi_thread_name_copy(char to[PPI_THREAD_NAME], const char *name) {
  size_t len = ppi_text_cut(name, PPI_THREAD_NAME - 1);
  memcpy(to, name, len);
  to[len] = 0;
}

void ppi_thread_name_find(ppi_thread *thread) {
  if (__atomic_load_n(&os.has_any, __ATOMIC_RELAXED)) {
    ppi_thread_lock();
    for (uint32_t i = 0; i < PPI_OS_NAMES; i++)
      if (os.names[i].tid == thread->tid)
        ppi_thread_name_copy(thread->name, os.names[i].name);
    ppi_thread_unlock();
  }
  if (!thread->name[0])
    pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
}

bool ppi_thread_name_keep(uint32_t tid, const char *name) {
  ppi_os_name *free_place = NULL;
  for (uint32_t i = 0; i < PPI_OS_NAMES; i++) {
    ppi_os_name *known = &os.names[i];
    if (known->tid == 0 && !free_place) free_place = known;
    if (known->tid == tid) free_place = known;
    if (known->tid == tid) break;
  }
  if (!free_place) return false;
  free_place->tid = tid;
  ppi_thread_name_copy(free_place->name, name);
  __atomic_store_n(&os.has_any, true, __ATOMIC_RELAXED);
  return true;
}

void ppi_thread_name_forget(uint32_t tid) {
  if (!__atomic_load_n(&os.has_any, __ATOMIC_RELAXED)) return;
  ppi_thread_lock();
  for (uint32_t i = 0; i < PPI_OS_NAMES; i++)
    if (os.names[i].tid == tid) os.names[i].tid = 0;
  ppi_thread_unlock();
}
