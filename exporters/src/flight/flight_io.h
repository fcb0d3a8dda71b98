// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's thread for dumps, and the structure that it shares with
// the sink (flight.c).
#pragma once

#include <pthread.h>

#include "flight/flight_dump.h"
#include "flight/flight_state.h"
#include "flight/rule.h"
#include "log/format/backlog.h"
#include "spool/staging.h"

// The ring. Blocks go in at its head; without room the oldest are dropped,
// except those that a dump still needs. Nothing locks it: the owner does.
typedef struct ppi_flight_ring {
  ppi_ring *ring;
  ppi_staging *blocks;
  void *heap;                   // NULL: it lies in the spool
  ppi_backlog backlog;          // closed while pinned blocks were in the way
  ppi_lane_high_water kept;     // of blocks in the ring and dropped ones
  ppi_lane_high_water dropped;  // of dropped blocks
} ppi_flight_ring;

// Takes the spool's ring, or makes one of `bytes`.
pprof_status ppi_flight_ring_open(ppi_flight_ring *ring,
                                  const ppi_staging *staging, uint64_t bytes,
                                  const char *path);

// Blocks from the position `pin` on stay; UINT64_MAX: none has to. Put takes a
// group of whole blocks, if necessary into the backlog; NO_MEMORY.
pprof_status ppi_flight_ring_put(ppi_flight_ring *ring, const uint8_t *blocks,
                                 size_t len, uint64_t pin);
// Moves the backlog into the ring as far as there is room.
void ppi_flight_ring_settle(ppi_flight_ring *ring, uint64_t pin);
// False: the backlog is as long as the ring. One call may exceed that.
bool ppi_flight_ring_has_room(const ppi_flight_ring *ring);

// The number of the oldest block, `none` without one.
uint64_t ppi_flight_ring_oldest(const ppi_flight_ring *ring, uint64_t none);

enum {
  PPI_FLIGHT_RULE = 0,
  PPI_FLIGHT_ASKED = 1,
  PPI_FLIGHT_NUM_JOBS = 2,
  PPI_FLIGHT_PATH_MAX = sizeof(ppi_path),
  PPI_FLIGHT_REASON_MAX = PPI_RULE_TEXT_MAX + 160,
  PPI_FLIGHT_HISTORY = 128
};

// IDLE: free. CLAIMED: its file is being made. READY: the thread may begin.
typedef enum ppi_flight_phase {
  PPI_FLIGHT_IDLE = 0,
  PPI_FLIGHT_CLAIMED,
  PPI_FLIGHT_READY,
  PPI_FLIGHT_RUNNING
} ppi_flight_phase;

// Counts of the session at one time.
typedef struct ppi_flight_counts {
  uint64_t time_ns;
  uint64_t counts[PPI_NUM_TOTALS];
} ppi_flight_counts;

// One dump, asked for or being written. Blocks from `at` on stay in the ring
// unless the job is IDLE.
typedef struct ppi_flight_job {
  ppi_flight_phase phase;
  ppi_flight_span span;
  uint64_t at;
  ppi_part part;  // READY: open; of a rule, not yet
  char reason[PPI_FLIGHT_REASON_MAX];
  uint64_t before[PPI_NUM_TOTALS];  // counted before its span
  uint64_t num_left_out;            // events in front of its span or behind it
  ppi_flight_dump dump;             // the thread's
} ppi_flight_job;

typedef struct ppi_flight {
  pprof_sink base;
  // Set when made.
  char *path;  // absolute
  ppi_disk *disk;
  uint64_t memory_bytes, wait_ms;
  char uuid[PPI_LOG_UUID_LEN + 1];
  // The collector's.
  ppi_log_assembler assembler;
  bool assembling, begun, finished;
  ppi_rule_engine *engine;
  pprof_status status;  // the first failure of the ring
  // All else is guarded by the mutex.
  pthread_mutex_t mutex;
  pthread_cond_t work, progress;
  pthread_t thread;
  bool running;    // between begin and finish: dumps may be asked for
  bool stop;       // the thread finishes its jobs and ends
  bool ended;      // it has ended
  bool abandoned;  // nobody waits for it; it no longer touches the ring
  bool orphan;     // the sink was destroyed: the thread frees this
  uint64_t before_ns, after_ns, every_ns, limit;
  ppi_rule_engine *next_engine;  // takes the engine's place
  ppi_flight_ring ring;
  ppi_flight_past past;
  ppi_flight_job jobs[PPI_FLIGHT_NUM_JOBS];
  uint8_t *copy;  // one block, for the thread
  uint64_t num_rule_dumps;
  uint64_t last_moment_ns;  // of any dump
  bool has_moment;
  uint64_t known_ns,
      known_at_ns;  // one moment by the run's clock and CLOCK_MONOTONIC
  ppi_flight_counts history[PPI_FLIGHT_HISTORY];
  uint64_t num_history;
  ppi_flight_counts now;  // at the latest checkpoint
  char asked_path[PPI_FLIGHT_PATH_MAX];
  pprof_status asked_status;
  ppi_flight_state state;
} ppi_flight;

pprof_status ppi_flight_io_start(ppi_flight *flight);
// Ends the dumps and the thread. Errors: IO: a file did not take its dump in
// time, and its thread is left behind.
pprof_status ppi_flight_io_finish(ppi_flight *flight, uint64_t deadline_ns);
void ppi_flight_free(ppi_flight *flight);
// Opens the first free name of `path`, .1, .2 ... beside it.
pprof_status ppi_flight_open_part(const char *path, ppi_part *out,
                                  pprof_error *error);
// Under the mutex. Blocks from this position on stay in the ring.
uint64_t ppi_flight_pin(const ppi_flight *flight);
