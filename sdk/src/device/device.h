// SPDX-License-Identifier: Apache-2.0
//
// Devices: opened once, known by backend and index, there until the process
// ends.
#pragma once

#include <stddef.h>

#include "base/base.h"
#include "pprof/device.h"
#include "spool/spool.h"

PPROF_BEGIN_C_

#define PPI_DEVICE_NAME 48u
#define PPI_EVENT_POOLS 8u
#define PPI_NAMED_STREAMS 64u

// A session's part of a device (device_impl.h).
typedef struct ppi_device_session ppi_device_session;

// The program's name for a stream, also before any session.
typedef struct ppi_stream_name {
  uint64_t stable_id;
  char name[64];
} ppi_stream_name;

struct pprof_device {
  const pprof_backend *backend;
  int index;
  uint32_t id;              // definition id
  uint32_t refused_serial;  // collector: the session had no room for it
  bool available;
  void *context;
  ppi_device_session *session;  // NULL: not attached; atomic
  struct pprof_device *next;
  pprof_error why_not;
  char name[PPI_DEVICE_NAME];
  // Ranges that became nodes of graphs, in all sessions: their events stay.
  uint32_t num_in_graphs;  // atomic
  // Under the devices' lock. Pools stay known, so that the next session has
  // events for them before the first range.
  uint64_t pools[PPI_EVENT_POOLS];
  uint32_t num_pools;
  uint32_t num_names;
  ppi_stream_name names[PPI_NAMED_STREAMS];
};

// The sessions by the number of their table; atomic.
extern ppi_device_session *ppi_device_sessions[PPI_MAX_TABLES];

void ppi_device_in_forked_child(void);
// The lock of streams, names and pools; free while a device is opened.
void ppi_device_lock(void);
void ppi_device_unlock(void);
// ppi_device_list answers the newest; follow ->next. Devices are never freed.
pprof_device *ppi_device_list(void);
// ppi_device_set_name gives a device's name, "cuda:0"; ppi_device_id the id of
// the device that has that name, or will have it when it is opened; 0: there
// are too many.
void ppi_device_set_name(char name[PPI_DEVICE_NAME], const char *backend,
                         int index);
uint32_t ppi_device_id(const char *backend, int index);
// ppi_device_use_null notes that a NULL device was used in this session.
void ppi_device_use_null(void);
bool ppi_device_null_used(void);
// ppi_device_remember_pool keeps a pool for later sessions, under the lock;
// ppi_device_forget_pool forgets one that is gone.
void ppi_device_remember_pool(pprof_device *device, uint64_t id);
void ppi_device_forget_pool(pprof_device *device, uint64_t id);
// ppi_device_pools gives the pools found so far, at most PPI_EVENT_POOLS.
uint32_t ppi_device_pools(const pprof_device *device, uint64_t *out);
// Called by pprof_device_get while a session runs: attaches new devices.
void ppi_device_set_attach_hook(void (*attach_all)(void));
// Whether the backend has a function, by its size.
#define PPI_BACKEND_HAS(backend, slot)                            \
  ((backend)->size >=                                             \
       offsetof(pprof_backend, slot) + sizeof((backend)->slot) && \
   (backend)->slot)

PPROF_END_C_
