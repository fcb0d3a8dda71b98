// SPDX-License-Identifier: Apache-2.0
//
// A session's part of a device: a table of ranges in the spool, event pairs
// beside it, streams, the clock mapping.
#pragma once

#include "device/device.h"
#include "mark/pending.h"

#define PPI_STREAMS 256u
#define PPI_POOL_BATCH 32u
#define PPI_POOL_BATCHES_A_POLL 8u
#define PPI_POOL_START 4096u  // slots that a pool begins with
#define PPI_STOCK_BATCH 16u   // slots that a thread takes at a time
// Of a table; a poll's time at 50 000 ranges a second.
#define PPI_EARLY_SLOTS 256u
#define PPI_STREAM_PLACES 8u

// Events of a pair that are nodes of a graph: they belong to no pool any more.
enum {
  PPI_IN_GRAPH_BEGIN = 1,
  PPI_IN_GRAPH_END = 2,   // of the same
  PPI_IN_GRAPH_APART = 4  // the end is in another one
};

// The event pair of a slot, on a line of its own. Written by the marking thread
// before the slot's state word is published.
typedef struct ppi_pair {
  void *begin, *end;  // set by ppi_pair_set, read ahead by markers
  void *stream;       // the handle that it began on
  uint16_t begin_at;  // places of its streams in the session's table + 1
  uint16_t end_at;    // (the same, but for a range that wandered); 0: none
  uint8_t pool;       // index of its event pool
  uint8_t num_chain;  // on a pool's list: slots in the chain it leads
  bool has_begin, has_end;
  uint32_t shared_end;  // index + 1 of the slot; its begin event ends this
  uint32_t feeds;       // index + 1 of the slot that this begin event ends
  bool passed;          // collector: both events are known to have passed
  bool begin_placed;    // collector: a `next` chain already gave it a time
  bool queued;          // collector: it waits in a queue of ended ranges
  uint8_t in_graph;     // PPI_IN_GRAPH_... values
  uint32_t next_chain;  // on a pool's list: index + 1 of the next chain; atomic
  union {
    uint64_t begin_ns;  // collector: that time
    uint64_t capture;   // in_graph: the capture it began in
  };
} __attribute__((aligned(64))) ppi_pair;
PPI_STATIC_ASSERT(sizeof(ppi_pair) == 64, "one line");

// ppi_pair_set changes the events. A marker may be reading them to guess its
// next slot.
static inline void ppi_pair_set(ppi_pair *pair, void *begin, void *end) {
  __atomic_store_n(&pair->begin, begin, __ATOMIC_RELAXED);
  __atomic_store_n(&pair->end, end, __ATOMIC_RELAXED);
}

// Slots with events of one pool. The collector puts them on the list in chains
// of PPI_STOCK_BATCH; a thread takes a chain at a time into its stock, so this
// cache line is written once in PPI_STOCK_BATCH ranges.
typedef struct ppi_event_pool {
  uint64_t chains;    // {gen:32, index + 1:32}; linked by the pairs' next_chain
  uint64_t id;        // atomic
  uint32_t num_free;  // in the chains; atomic, about
  uint32_t filled;    // the collector made events for it once; atomic
  uint32_t gone;      // its events must not be touched any more; atomic
  uint32_t wanted;    // a stream of it exists, or is expected; atomic
  // Gone, and nothing of it is left: another may have its place; atomic.
  uint32_t vacant;
  // The chain that the collector is making: index + 1 of its first slot.
  uint32_t chain, num_chain;
  uint32_t num_slots;  // collector: slots that have events of this pool
  uint32_t num_early;  // slots that markers have made events for since; atomic
  bool refused;        // collector: the last events could not be made
  bool forgotten;      // collector: the device no longer lists it
} __attribute__((aligned(64))) ppi_event_pool;

// A stream's place in the session's table, and its row in the timeline. Where
// places run out, one that is idle becomes another stream's, which goes on in
// the same row: what lies there is long past.
typedef struct ppi_stream {
  uint64_t stable_id;  // atomic
  void *handle;        // the program's latest; atomic
  uint32_t id;         // of its definition; 0: empty; atomic, published last
  uint32_t is_idle;    // the collector offers the place; atomic
  bool is_named;       // it is not given away; under the devices' lock
  bool is_shared;      // the row has been several streams'; the same
  // The collector's: the last range placed on it, by end, and the latest
  // ranges' submits and starts, for those around them that end later.
  uint64_t last_end_ns __attribute__((aligned(64)));
  uint64_t last_end_ticks, last_error_ns;
  uint64_t seen_ticks;  // when a range of it was last under way
  struct {
    uint64_t submit_ticks, start_ns;
  } places[PPI_STREAM_PLACES];
  uint32_t num_places;
} ppi_stream;

// Why ranges of an available device have no device time; a note each.
enum {
  PPI_DEVICE_NOTE_UNTIMED = 1,     // a stream gives no times
  PPI_DEVICE_NOTE_NOT_STREAM = 2,  // something that is no stream of it
  PPI_DEVICE_NOTE_NEW_POOL = 4,    // a context without its events yet
  PPI_DEVICE_NOTE_MANY_POOLS = 8,  // more contexts than PPI_EVENT_POOLS
  PPI_DEVICE_NOTE_MANY_STREAMS = 16,
  PPI_DEVICE_NOTE_GRAPH = 32,           // graphs may have missed launches
  PPI_DEVICE_NOTE_MANY_IN_GRAPHS = 64,  // more than PPI_GRAPH_RANGES
  PPI_DEVICE_NOTE_REFUSED = 128,        // an event was not recorded, or read
  PPI_DEVICE_NOTE_SHARED_ROWS = 256,    // a stream has another one's place
  PPI_DEVICE_NOTE_LOST_POOL = 512       // a context went, with its events
};

#define PPI_GRAPH_RANGES 256u

// The state of a session in device_clock, resolve and graph.
typedef struct ppi_device_clocks ppi_device_clocks;
typedef struct ppi_waiting ppi_waiting;
typedef struct ppi_graphs ppi_graphs;

struct ppi_device_session {
  pprof_device *device;
  ppi_table *table;
  uint32_t table_index;
  uint32_t next_unused;  // slots without events yet; collector
  uint32_t failed;       // the device reported an error; atomic
  uint32_t notes;        // PPI_DEVICE_NOTE_... values; atomic
  uint32_t num_pools;    // atomic
  uint32_t num_streams;  // places in use; atomic
  uint32_t num_idle;     // places that may be another stream's; atomic
  bool graph_nodes;      // captured ranges become nodes of the graph
  ppi_event_pool pools[PPI_EVENT_POOLS];
  // By the threads' numbers. A thread that finds the pool empty may take from
  // any of them.
  ppi_stock stocks[PPI_EVENT_POOLS][PPI_STOCKS];
  ppi_stream streams[PPI_STREAMS];
  ppi_pair pairs[PPI_TABLE_SLOTS];
  // Collector: slots that lost their events with their pool.
  uint32_t bare[PPI_TABLE_SLOTS];
  uint32_t num_bare;
  // Slots for the events that markers make, where the backend lets them.
  uint32_t early[PPI_EARLY_SLOTS];
  uint32_t num_early, next_early;  // the second one is atomic
  bool last_chance;       // collector: the session stops, no anchor will come
  bool gives_up;          // collector: what is not ready now is late
  uint64_t looked_ticks;  // collector: for idle streams
  // The collector's.
  ppi_device_clocks *clocks;
  ppi_waiting *waiting;
  ppi_graphs *graphs;
};

// ppi_device_add_note keeps a PPI_DEVICE_NOTE_... value.
static inline void ppi_device_add_note(ppi_device_session *session,
                                       uint32_t note) {
  if ((__atomic_load_n(&session->notes, __ATOMIC_RELAXED) & note) != note)
    __atomic_fetch_or(&session->notes, note, __ATOMIC_RELAXED);
}
static inline bool ppi_device_is_absolute(const ppi_device_session *session) {
  return session->device->backend->caps & PPROF_BACKEND_ABSOLUTE_TIME;
}
static inline ppi_slot *ppi_device_slot(const ppi_device_session *session,
                                        uint32_t index) {
  return ppi_table_slot(ppi_recorder_in_force.spool.base, session->table,
                        index);
}
static inline bool ppi_device_has_failed(const ppi_device_session *session) {
  return __atomic_load_n(&session->failed, __ATOMIC_RELAXED);
}
// ppi_device_note_status ends device timing when the backend answered DEVICE;
// host sides go on. Any thread.
static inline void ppi_device_note_status(ppi_device_session *session,
                                          pprof_status status) {
  if (status == PPROF_STATUS_DEVICE)
    __atomic_store_n(&session->failed, 1, __ATOMIC_RELAXED);
}
static inline bool ppi_pool_is_gone(const ppi_device_session *session,
                                    uint32_t pool) {
  return __atomic_load_n(&session->pools[pool].gone, __ATOMIC_RELAXED);
}
static inline bool ppi_pool_is_vacant(const ppi_device_session *session,
                                      uint32_t pool) {
  return __atomic_load_n(&session->pools[pool].vacant, __ATOMIC_ACQUIRE);
}
// ppi_pool_note_status does so for a call that concerned one pool: UNAVAILABLE
// ends the timing of that pool only.
static inline void ppi_pool_note_status(ppi_device_session *session,
                                        uint32_t pool, pprof_status status) {
  ppi_device_note_status(session, status);
  if (status != PPROF_STATUS_UNAVAILABLE) return;
  ppi_device_add_note(session, PPI_DEVICE_NOTE_LOST_POOL);
  __atomic_store_n(&session->pools[pool].gone, 1, __ATOMIC_RELAXED);
}

// ppi_event_note_status does so for a call that concerned one event: any other
// error costs its range the device time.
static inline void ppi_event_note_status(ppi_device_session *session,
                                         uint32_t pool, pprof_status status) {
  ppi_pool_note_status(session, pool, status);
  if (status != PPROF_STATUS_OK && status != PPROF_STATUS_BUSY &&
      status != PPROF_STATUS_DEVICE && status != PPROF_STATUS_UNAVAILABLE)
    ppi_device_add_note(session, PPI_DEVICE_NOTE_REFUSED);
}

static inline uint32_t ppi_device_num_pools(const ppi_device_session *session) {
  return __atomic_load_n(&session->num_pools, __ATOMIC_ACQUIRE);
}
