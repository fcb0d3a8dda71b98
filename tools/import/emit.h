// SPDX-License-Identifier: Apache-2.0
//
// Delivers the sweep's events to the sink: definitions at first use, events in
// batches with their numbers, checkpoints, totals.
#pragma once

#include "base/mem.h"
#include "event/tally.h"
#include "import/importer.h"

#define PPI_EMIT_SLOTS 16
#define PPI_EMIT_EVENTS 256
#define PPI_EMIT_FLOWS 1024

// Events of one lane that are not delivered yet.
typedef struct ppi_emitter_slot {
  uint32_t lane;
  size_t num, num_flows;
  pprof_event events[PPI_EMIT_EVENTS];
  pprof_work_amount work[PPI_EMIT_EVENTS];
  pprof_cpu_use cpu[PPI_EMIT_EVENTS];
  pprof_numbers numbers[PPI_EMIT_EVENTS];
  uint64_t flows[PPI_EMIT_FLOWS];
} ppi_emitter_slot;

typedef struct ppi_emitter {
  ppi_importer *importer;
  const ppi_process *process;  // the process of the run
  pprof_sink *sink;
  uint64_t base;  // biased; zero of the run's times
  ppi_emitter_slot *slots;
  uint64_t *next_seq;  // by lane
  size_t num_lanes, lanes_capacity;
  uint32_t *row_lanes;                                // by row, + 1; 0: none
  uint32_t *device_lanes;                             // by device
  unsigned char *defined_sites, *defined_attributes;  // bits
  size_t defined_sites_capacity;
  unsigned char defined_categories[(PPROF_CATEGORY_FIRST_REGISTERED +
                                    PPI_IMPORT_MAX_CATEGORIES) /
                                   8];
  bool defined_streams[PPI_MAX_STREAMS];
  ppi_tally tally;
  uint64_t num_reported;  // events since the last checkpoint
  uint64_t last_checkpoint;
  pprof_status status;  // the first failure; then no more events
} ppi_emitter;

void ppi_emitter_init(ppi_emitter *emit, ppi_importer *importer);
void ppi_emitter_clear(ppi_emitter *emit);

// ppi_emitter_count adds 1 to a total of the lane.
void ppi_emitter_count(ppi_emitter *emit, uint32_t lane, ppi_total_key key);
void ppi_emitter_begin(ppi_emitter *emit, const ppi_process *process);
uint32_t ppi_emitter_row_lane(ppi_emitter *emit, uint32_t row);
uint32_t ppi_emitter_device_lane(ppi_emitter *emit, uint32_t device);
// For sweeps with their own lanes, devices and streams.
uint32_t ppi_emitter_lane(ppi_emitter *emit, uint64_t number, const char *name);
void ppi_emitter_define(ppi_emitter *emit, const pprof_definition *definition);
void ppi_emitter_window(ppi_emitter *emit, uint32_t index, bool opens,
                        uint64_t time_ns);
// ppi_emitter_event adds an event to the batch of `lane`. It copies work, flows
// and CPU use.
void ppi_emitter_event(ppi_emitter *emit, uint32_t lane,
                       const pprof_event *event);
void ppi_emitter_flush(ppi_emitter *emit);
void ppi_emitter_checkpoint(ppi_emitter *emit, uint64_t time,
                            const pprof_event *open, size_t num_open);
// ppi_emitter_finish reports `skips` in notes; `is_main`: also all facts of the
// whole trace.
void ppi_emitter_finish(ppi_emitter *emit, const uint64_t *skips, bool is_main);
// A time of the trace in ns of the run.
static inline uint64_t ppi_emitter_ns(const ppi_emitter *emit, uint64_t time) {
  return time > emit->base ? time - emit->base : 0;
}

// ---- the sweep over one process in order of time ----

// The bound for all rows together, with asynchronous ranges: a checkpoint lists
// them.
#define PPI_SWEEP_MAX_OPEN (1u << 18)
#define PPI_SWEEP_MAX_FLOWS (1u << 18)
#define PPI_SWEEP_RANGE_FLOWS 64
#define PPI_SWEEP_BUCKETS (1u << 16)
#define PPI_SWEEP_CHECKPOINT 100000

// An open range; without an end yet it ends at PPI_SWEEP_NEVER.
#define PPI_SWEEP_NEVER UINT64_MAX
typedef struct ppi_open {
  ppi_record record;
  uint32_t flows;  // of the list of flows, + 1
  uint32_t next;   // of asynchronous ones, + 1
  // By stack: the site of its name in the trace, and the stack for ranges
  // inside it, + 1; 0: each has its own.
  uint32_t base_site, stack;
  ppi_own_event *own;  // of our own traces; NULL: no words
} ppi_open;

// An open Python function, and the stack of its calls (callers.c).
typedef struct ppi_caller {
  uint64_t end;
  uint32_t site, stack;
} ppi_caller;

// The first operator of a sequence number of autograd. A later number
// overwrites one with the same place.
#define PPI_SWEEP_FORWARDS (1u << 18)
typedef struct ppi_forward {
  double sequence;  // + 1; 0: none
  uint32_t stack;
} ppi_forward;

typedef struct ppi_open_row {
  ppi_open *items;  // the outermost first
  size_t num, capacity;
  size_t num_begun;       // open ranges of begin events
  uint64_t num_left_out;  // begun, but beyond the bound
  ppi_caller *callers;    // by stack; the outermost first
  size_t num_callers, callers_capacity;
} ppi_open_row;

typedef struct ppi_open_flow {
  uint64_t flow;
  uint32_t next;  // + 1
} ppi_open_flow;

// Rows that launch device work, most launches first. A tree of maxima has the
// end of each row's innermost open range.
typedef struct ppi_launchers {
  uint32_t *rows;  // by leaf
  uint32_t *leaf;  // by row, + 1; 0: none
  uint64_t *ends;  // [1] is the root; 0: nothing is open
  size_t num, num_leaves;
} ppi_launchers;

typedef struct ppi_sweeper {
  ppi_emitter emit;
  ppi_importer *importer;
  const uint64_t *of_trace;  // skips before the sweep
  uint32_t main_process, process;
  bool by_stack;
  ppi_open_row *rows;
  ppi_open *async;
  size_t num_async, async_capacity;
  uint32_t free_async, *async_buckets;  // + 1
  ppi_open_flow *flows;
  size_t num_flows, flows_capacity;
  uint32_t free_flow;  // + 1
  size_t num_open;
  ppi_launchers launchers;  // made when first needed
  double *reserved;         // by site: the level emitted last, + 1
  ppi_intern stacks;        // by stack: entries with ';' between them
  ppi_forward *forwards;    // made when first needed
  pprof_event *listed;
  size_t listed_capacity;
  ppi_own_run own;
} ppi_sweeper;
