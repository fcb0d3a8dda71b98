// SPDX-License-Identifier: Apache-2.0
//
// The calls of a run that the limit model uses: all calls or, for a long run,
// evenly spread stretches of time. Sink thread.
#pragma once

#include "report/table/table_fill.h"

// More calls than this are thinned out.
#define PPI_LIMIT_CALLS 65536
#define PPI_NO_CALL UINT32_MAX

enum {
  PPI_CALL_LOOSE = PPI_RANGE_LOOSE,  // on no row: it wanders between threads
  PPI_CALL_STEP = PPI_RANGE_STEP,    // a step of the run
  PPI_CALL_REQUEST = PPI_RANGE_REQUEST,  // a request from arrival to end
  PPI_CALL_CUT = PPI_RANGE_CUT,
  PPI_CALL_LOCK = PPI_RANGE_LOCK,      // a wait for what another thread has
  PPI_CALL_POSTED = PPI_RANGE_POSTED,  // with LOCK: any thread may end the wait
  PPI_CALL_WAIT = PPI_RANGE_WAIT,      // a recorded wait for another thread
  PPI_CALL_TIMED = PPI_RANGE_TIMED,    // with WAIT: its time-out ended it
  PPI_CALL_OPEN = PPI_RANGE_OPEN,      // its end is in a later table
  PPI_CALL_DEVICE = 1024,              // on a stream; `row` is the stream's id
  PPI_CALL_NAMED = 2048,               // device work under a name of its own
  PPI_CALL_PART = 4096,  // made by the model: a stage, or the stage's own part
                         // outside inner stages
  PPI_CALL_SYNC = 8192,  // it returns once a device has done all
  PPI_CALL_LOWER = PPI_RANGE_LOWER,  // with LOCK: for a lower priority
  PPI_CALL_CPU = 32768,              // cpu_ns is known
  PPI_CALL_COPY = 1 << 21  // a copy of a device; the model has the bits before
};

typedef struct ppi_limit_call {
  uint64_t start_ns, end_ns;
  uint64_t submit_ns;       // of device work
  uint64_t last_submit_ns;  // of the last launch, if several are one call
  uint64_t work_ns;         // of device work: its time without gaps
  uint64_t cpu_ns, queued_ns;
  uint64_t memory_ns;  // of calls that take memory of a device, or give it back
  uint32_t name, row;
  uint32_t parent;      // the call around it, or that submitted it
  uint32_t flags;       // PPI_CALL_...
  uint32_t first, num;  // of the run's flows, later of its units
  uint32_t host;        // of device work: the thread that submitted it
  uint32_t ended_by;    // of a wait: an OS thread; 0: unknown
  uint32_t ended_in;  // of a wait: that thread's range, a name + 1; 0: unknown
  uint32_t dropped;   // launches that joined the call; on a thread: inner calls
                      // that synchronize
} ppi_limit_call;

static inline bool ppi_call_is_between(const ppi_limit_call *call) {
  return call->flags & PPI_CALL_WAIT && call->parent == PPI_NO_CALL;
}

static inline bool ppi_call_is_on_row(const ppi_limit_call *call) {
  return !(call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP));
}
// Recorded waits between stages do not count.
static inline bool ppi_call_is_on_thread(const ppi_limit_call *call) {
  return ppi_call_is_on_row(call) && !ppi_call_is_between(call);
}

// The number of calls in a list that begin, or end, before `limit_ns`; sorted
// by that.
size_t ppi_calls_below(const ppi_limit_call *calls, const uint32_t *list,
                       size_t num, bool by_end, uint64_t limit_ns);

// A stretch of time with all of its calls.
typedef struct ppi_limit_chunk {
  uint64_t from_ns, to_ns;
  size_t first, num;
} ppi_limit_chunk;

// Where a call is once calls were dropped, and how many are around it.
typedef struct ppi_limit_place {
  uint32_t now, depth;
} ppi_limit_place;

// All zero is the empty one.
typedef struct ppi_limit_calls {
  ppi_table_fill fill;
  ppi_limit_call *items;
  size_t num, capacity;
  uint64_t *flows;
  size_t num_flows, flows_capacity;
  ppi_limit_chunk *chunks;
  size_t num_chunks, chunks_capacity;
  uint32_t most_depth;    // of calls, plus one; 0: any
  uint64_t stride;        // one chunk of this many is kept; 0: all
  uint64_t skip_to_ns;    // tables before this time are skipped
  bool are_links;         // flows join ranges, and are no requests
  ppi_limit_place *kept;  // room for the rows of the current table
  size_t kept_capacity;
  uint32_t *open;  // calls without an end yet, in order
  size_t num_open, open_capacity;
} ppi_limit_calls;

typedef struct ppi_loop_turn {
  uint64_t start_ns, end_ns;
} ppi_loop_turn;

typedef struct ppi_limit_loop {
  const char *begins;  // the range that begins a turn; NULL: as found
  bool is_off;
  // Where it is wanted, all calls as the table had them, on a time axis without
  // the stretches left out; names are folded.
  bool is_wanted;
  ppi_limit_call *calls;
  size_t num_calls;
  // Turns of the thread that goes round, without outliers. Empty: no loop, or
  // several threads go round alike.
  ppi_loop_turn *turns;
  size_t num_turns;
  uint32_t thread;
  bool is_device;   // a stream goes round
  uint64_t stride;  // each turn stands for this many
  char stages[160], thread_name[64];
} ppi_limit_loop;

// Call ppi_limit_calls_begin first.
void ppi_limit_calls_begin(ppi_limit_calls *calls);
// Drops calls that never ended. False: out of memory.
bool ppi_limit_calls_end(ppi_limit_calls *calls);
void ppi_limit_calls_clear(ppi_limit_calls *calls);
void ppi_limit_loop_clear(ppi_limit_loop *loop);
