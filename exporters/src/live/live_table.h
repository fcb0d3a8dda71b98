// SPDX-License-Identifier: Apache-2.0
//
// The table that a watched process shares with watchers: a file in memory with
// one row for each stage. The collector writes it, others read it with pread.
// Rows are only added; numbers only grow, except gauges.
#pragma once

#include "pprof/base.h"

#define PPI_LIVE_MAGIC 0x3176696c70727070ull  // "pprpliv1"
enum {
  PPI_LIVE_MAX_ROWS = 512,  // the last is <other>: names beyond
  PPI_LIVE_MAX_NAME = 128,
  PPI_LIVE_MAX_CATEGORY = 32,
  PPI_LIVE_MAX_BOUNDS = 24,
  PPI_LIVE_MAX_OPEN = 48,
  PPI_LIVE_MAX_DEVICES = 16,
  PPI_LIVE_MAX_THREADS = 32,
  PPI_LIVE_MAX_COUNTERS = 32,
  PPI_LIVE_FINE_BITS = 5,    // a bucket's middle is within 1/64 of its values
  PPI_LIVE_LARGEST_BIT = 44  // 2^44 ns, 4.9 h, and beyond: the last bucket
};
#define PPI_LIVE_NUM_FINE \
  ((PPI_LIVE_LARGEST_BIT - PPI_LIVE_FINE_BITS + 2) << PPI_LIVE_FINE_BITS)

typedef struct ppi_live_row {
  char name[PPI_LIVE_MAX_NAME], category[PPI_LIVE_MAX_CATEGORY];
  uint32_t is_device, is_used;
  uint64_t num_cut;  // without a duration: clipped, abandoned
  uint64_t sum_ns, max_ns;
  uint64_t last_end_ns;
  // The slowest call with a request since a watcher last read it; an exemplar.
  uint64_t slowest_ns, slowest_flow, slowest_end_ns;
  // Durations up to each bound of the header, not cumulated; the last counts
  // those above.
  uint64_t within[PPI_LIVE_MAX_BOUNDS + 1];
  uint32_t fine[PPI_LIVE_NUM_FINE];  // wraps
} ppi_live_row;

typedef struct ppi_live_open {
  uint64_t start_ns, flow;
  uint32_t row;   // place of its row + 1; 0: none
  uint32_t lane;  // of the run
  uint32_t is_device, is_used;
  char thread[32];
} ppi_live_open;

typedef struct ppi_live_device {
  char name[32];
  uint64_t busy_ns;   // the union of its ranges, from `begun_ns` of the
  uint64_t until_ns;  // header up to here
  uint64_t
      num_pending;  // submitted and not known as finished, at the checkpoint
} ppi_live_device;

// Threads with one name are one, such as a pool.
typedef struct ppi_live_thread {
  char name[32];
  uint64_t busy_ns;  // in outermost ranges that have ended
} ppi_live_thread;

typedef struct ppi_live_counter {
  char name[PPI_LIVE_MAX_NAME];
  double value;  // the last
  uint64_t time_ns;
} ppi_live_counter;

typedef struct ppi_live_header {
  uint64_t magic;
  uint32_t header_size, row_size;
  uint32_t num_rows, num_devices, num_threads, num_counters, num_open;
  uint64_t start_realtime_ns;  // wall clock at 0 ns of the run
  uint64_t begun_ns;           // when counting began
  uint64_t checkpoint_ns;      // of the last checkpoint; 0: none yet
  uint64_t num_checkpoints;
  uint64_t num_events, num_beyond;  // events; of names that found no row
  uint64_t num_steps, num_items;    // of steps
  // The fields of pprof_stats, at the checkpoint.
  uint64_t recorded, lost, late, missed, marker_cost_ns_x1000;
  uint64_t collector_cpu_ns;
  uint64_t bounds_ns[PPI_LIVE_MAX_BOUNDS];
  uint32_t num_bounds, is_recording;  // a window is open
  char host[64], version[32], uuid[40];
  ppi_live_device devices[PPI_LIVE_MAX_DEVICES];
  ppi_live_thread threads[PPI_LIVE_MAX_THREADS];
  ppi_live_counter counters[PPI_LIVE_MAX_COUNTERS];
  ppi_live_open open[PPI_LIVE_MAX_OPEN];
} ppi_live_header;

typedef struct ppi_live_table {
  ppi_live_header header;
  ppi_live_row rows[PPI_LIVE_MAX_ROWS];
} ppi_live_table;

// The bucket of a duration: below 2^FINE_BITS each value has its own, each
// power of two above has 2^FINE_BITS.
static inline uint32_t ppi_live_fine_of(uint64_t ns) {
  const uint32_t steps = 1u << PPI_LIVE_FINE_BITS;
  if (ns < steps) return (uint32_t)ns;
  const uint32_t bit = 63u - (uint32_t)__builtin_clzll(ns);
  if (bit > PPI_LIVE_LARGEST_BIT) return PPI_LIVE_NUM_FINE - 1;
  const uint32_t octave = bit - PPI_LIVE_FINE_BITS + 1;
  return octave * steps +
         (uint32_t)(ns >> (bit - PPI_LIVE_FINE_BITS) & (steps - 1));
}

// The middle of a bucket.
static inline uint64_t ppi_live_middle_of(uint32_t fine) {
  const uint32_t steps = 1u << PPI_LIVE_FINE_BITS;
  if (fine < steps) return fine;
  const uint32_t shift = fine / steps - 1;
  return (((uint64_t)steps + fine % steps) << shift) + ((1ull << shift) >> 1);
}
