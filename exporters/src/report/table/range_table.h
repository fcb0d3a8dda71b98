// SPDX-License-Identifier: Apache-2.0
//
// A range table: the ranges of a run between two whole checkpoints, as rows.
// Ranges are paired, nested and named here only; later analyses read the
// tables. Only the delivering thread uses them.
#pragma once

#include "pprof/event.h"

#define PPI_NO_RANGE UINT32_MAX

enum {
  PPI_RANGE_OPEN = 1,      // it ends in a later table, which lists it again
  PPI_RANGE_LOOSE = 2,     // outside the nesting of its row
  PPI_RANGE_CUT = 4,       // the edge of a window or of the process ended it
  PPI_RANGE_STEP = 8,      // a step of the run
  PPI_RANGE_REQUEST = 16,  // the request in its flows, from arrival to end
  PPI_RANGE_LOCK = 32,     // a wait for an object that another thread has
  PPI_RANGE_ENDED = 64,    // of an open one: its end is known
  PPI_RANGE_POSTED = 128,  // of locks: any thread may end the wait
  PPI_RANGE_WAIT = 256,    // a recorded wait for another thread
  PPI_RANGE_TIMED = 512,   // a wait that timed out
  PPI_RANGE_LOWER = 16384  // of locks: a thread of a lower priority has it
};

// The work of a device range. All times 0: unknown.
typedef struct ppi_range_device {
  uint64_t start_ns, end_ns;
  uint32_t stream, device;  // ids of the run
  bool is_paired;           // the host range of its name around it is the call
} ppi_range_device;

// The requests that ranges serve: numbers [first, first + num) of `flows`.
typedef struct ppi_range_flows {
  uint32_t first, num;
} ppi_range_flows;

typedef struct ppi_range {
  uint64_t start_ns, end_ns;
  uint32_t name, thread;  // of ppi_table_ids
  uint32_t parent;        // a row; PPI_NO_RANGE: none
  uint32_t flags, depth;
  uint32_t served;     // of `flow_lists`; list 0 is empty
  uint32_t on_device;  // of `devices`; PPI_NO_RANGE: a host range
  uint32_t ended_by;   // of a wait: an OS thread; 0: unknown, no wait
  uint32_t used;       // of `cpus`; PPI_NO_RANGE: not known
} ppi_range;

// Rows are sorted by thread, then begin, outer ranges before inner ones.
// Parents come before their children.
typedef struct ppi_range_table {
  const ppi_range *rows;
  size_t num;
  const ppi_range_flows *flow_lists;
  const uint64_t *flows;
  const ppi_range_device *devices;
  const pprof_cpu_use *cpus;
  uint64_t from_ns, to_ns;  // ranges that begin in between are here
} ppi_range_table;
