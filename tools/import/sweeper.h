// SPDX-License-Identifier: Apache-2.0
//
// The sweep over one process in order of time: open ranges of each row, and
// what becomes of them.
#pragma once

#include "import/emit.h"

// Of all rows together, asynchronous ranges included: a checkpoint lists them.
#define PPI_SWEEP_MAX_OPEN (1u << 18)
#define PPI_SWEEP_MAX_FLOWS (1u << 18)
#define PPI_SWEEP_RANGE_FLOWS 64
#define PPI_SWEEP_BUCKETS (1u << 16)
#define PPI_SWEEP_CHECKPOINT 100000

// An open range. What has no end yet ends at NEVER.
#define PPI_SWEEP_NEVER UINT64_MAX
typedef struct ppi_open {
  ppi_record record;
  uint32_t flows;  // of the list of flows, + 1
  uint32_t next;   // of asynchronous ones, + 1
  // By stack: what it was called in the trace, and what is inside of it has for
  // a stack, + 1; 0: its own.
  uint32_t base_site, stack;
} ppi_open;

// An open Python function, and the stack of what it calls (callers.h).
typedef struct ppi_caller {
  uint64_t end;
  uint32_t site, stack;
} ppi_caller;

// The first operator of a sequence number of autograd. Of numbers that share a
// place the last ones are kept.
#define PPI_SWEEP_FORWARDS (1u << 18)
typedef struct ppi_forward {
  double sequence;  // + 1; 0: none
  uint32_t stack;
} ppi_forward;

typedef struct ppi_open_row {
  ppi_open *items;  // the outermost first
  size_t num, capacity;
  size_t num_begun;       // of them those that an end may end
  uint64_t num_left_out;  // begun, but beyond the bound
  ppi_caller *callers;    // by stack; the outermost first
  size_t num_callers, callers_capacity;
} ppi_open_row;

typedef struct ppi_open_flow {
  uint64_t flow;
  uint32_t next;  // + 1
} ppi_open_flow;

// Rows that launch device work, those that launch most first, and when the
// innermost open range of each ends: a tree of maxima.
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
  double *reserved;         // by site: the level told last, + 1
  ppi_intern stacks;        // by stack: entries with ';' between them
  ppi_forward *forwards;    // made when first needed
  pprof_event *listed;
  size_t listed_capacity;
} ppi_sweeper;
