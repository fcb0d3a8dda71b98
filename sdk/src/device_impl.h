// SPDX-License-Identifier: Apache-2.0
//
// Devices: process-wide objects, and what a session attaches to each: a table
// of ranges in the spool, event pairs beside it, streams, the clock mapping.
#ifndef PPI_DEVICE_IMPL_H_
#define PPI_DEVICE_IMPL_H_

#include <pthread.h>

#include "pending.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_EVENT_POOLS 8u
#define PPI_STREAMS 256u
#define PPI_POOL_BATCH 32u
#define PPI_NAMED_STREAMS 64u
#define PPI_STREAM_PLACES 8u

// The event pair of a slot. Written by the marking thread before the slot's
// state word is published.
typedef struct ppi_pair {
  void *begin, *end;
  uint32_t pool;        // index of its event pool
  uint32_t shared_end;  // index + 1 of the slot whose begin event ends this
  uint32_t feeds;       // index + 1 of the slot that this begin event ends
  bool has_begin, has_end;
  bool passed;        // collector: both events are known to have passed
  bool begin_placed;  // collector: a `next` chain already gave it a time
  uint64_t begin_ns;
} ppi_pair;

typedef struct ppi_event_pool {
  uint64_t id;
  uint64_t free_list;  // of slots with events of this pool
  uint64_t num_free;   // atomic, about
  uint32_t filled;     // the collector made events for it once; atomic
} ppi_event_pool;

typedef struct ppi_stream {
  uint64_t stable_id;
  uint32_t id;   // 0: empty; published last
  void *handle;  // the program's, as last seen; atomic
  // The collector's: the last range placed on it, by end, and the latest
  // ranges' submits and starts, for those around them that end later.
  uint64_t last_end_ns, last_end_ticks, last_error_ns;
  struct {
    uint64_t submit_ticks, start_ns;
  } places[PPI_STREAM_PLACES];
  uint32_t num_places;
} ppi_stream;

// Where a device's clock lies against the run's. Kept by the collector.
typedef struct ppi_device_clock {
  bool known;
  uint64_t host_ns;   // of the last anchor
  int64_t device_ns;  // absolute backends
  void *event;        // the others: elapsed times are from here
  uint64_t bracket_ns;
  double drift;        // host ns per device ns, less one
  double drift_error;  // by how much `drift` may be off
  bool drift_known;
} ppi_device_clock;

// Why ranges of an available device have no device time; a note each.
enum {
  PPI_DEVICE_NOTE_UNTIMED = 1,     // a stream gives no times
  PPI_DEVICE_NOTE_NOT_STREAM = 2,  // something that is no stream of it
  PPI_DEVICE_NOTE_NEW_POOL = 4,    // a context whose events were not made yet
  PPI_DEVICE_NOTE_MANY_POOLS = 8,  // more contexts than PPI_EVENT_POOLS
  PPI_DEVICE_NOTE_MANY_STREAMS = 16
};

typedef struct ppi_device_session {
  struct pprof_device *device;
  ppi_table *table;
  uint32_t table_index;
  uint32_t next_unused;  // slots without events yet; collector
  uint32_t failed;       // the device reported an error; atomic
  uint32_t notes;        // PPI_DEVICE_NOTE_... values; atomic
  uint32_t num_pools;    // atomic
  ppi_event_pool pools[PPI_EVENT_POOLS];
  ppi_stream streams[PPI_STREAMS];
  ppi_device_clock clocks[PPI_EVENT_POOLS];
  ppi_pair pairs[PPI_TABLE_SLOTS];
  // Collector: resolved slots in the order of their seqs, until kept.
  uint32_t resolved[PPI_TABLE_SLOTS];
  // Collector: freed slots whose events are still in a stream.
  uint32_t resting[PPI_TABLE_SLOTS];
  uint32_t num_resting;
  bool last_chance;  // collector: the session stops, no anchor will come
  uint64_t last_used_ns, last_anchor_ns;
  uint64_t step_ns;  // absolute times seen so far are multiples of this
} ppi_device_session;

// What the program called a stream, also before any session.
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
  char name[48];
  // Under the devices' lock. Pools stay known, so that the next session has
  // events for them before the first range.
  uint64_t pools[PPI_EVENT_POOLS];
  uint32_t num_pools;
  uint32_t num_names;
  ppi_stream_name names[PPI_NAMED_STREAMS];
};

static inline bool ppi_device_has_failed(const ppi_device_session *session) {
  return __atomic_load_n(&session->failed, __ATOMIC_RELAXED);
}
// ppi_device_heed ends device timing when the backend answered DEVICE; host
// sides go on. Any thread.
static inline void ppi_device_heed(ppi_device_session *session,
                                   pprof_status status) {
  if (status == PPROF_STATUS_DEVICE)
    __atomic_store_n(&session->failed, 1, __ATOMIC_RELAXED);
}

void ppi_device_in_forked_child(void);
// ppi_device_list answers the newest; follow ->next. Devices are never freed.
pprof_device *ppi_device_list(void);
// A NULL device was used in this session.
bool ppi_device_null_used(void);
// ppi_device_pools gives the pools seen so far, at most PPI_EVENT_POOLS.
uint32_t ppi_device_pools(const pprof_device *device, uint64_t *out);
// ppi_device_note answers why ranges of the device had no times in this
// session, reason `i` from 0; NULL after the last.
const char *ppi_device_note(const pprof_device *device, uint32_t i);
// Asked by pprof_device_get while a session runs: attach what is new.
void ppi_device_set_attach_hook(void (*attach_all)(void));
// True for what the backend has, by its size.
#define PPI_BACKEND_HAS(backend, slot)                            \
  ((backend)->size >=                                             \
       offsetof(pprof_backend, slot) + sizeof((backend)->slot) && \
   (backend)->slot)

#ifdef __cplusplus
}
#endif

#endif  // PPI_DEVICE_IMPL_H_
