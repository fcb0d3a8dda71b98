// SPDX-License-Identifier: Apache-2.0
//
// The collector's state: only its thread uses it, except at start and stop.
#pragma once

#include <pthread.h>

#include "device/resolve.h"
#include "kernels/demand.h"
#include "session/state/cursor.h"

// The progress of taking ids back (names_turn.h).
typedef enum ppi_names_phase {
  PPI_NAMES_REST = 0,
  PPI_NAMES_LEAVE,    // names have left the table
  PPI_NAMES_DROPPED,  // and the caches
  PPI_NAMES_KEEP,     // their last records wait for the sinks
  PPI_NAMES_RING      // and to leave the flight recorder's ring
} ppi_names_phase;

typedef struct ppi_names_turn_state {
  ppi_names_phase phase;
  uint32_t seen;  // the look since which threads were outside
  uint64_t ring_head;
  bool wants_checkpoint;
} ppi_names_turn_state;

typedef struct ppi_open_list {
  pprof_event *events;
  size_t num, capacity;
  bool failed;  // out of memory
} ppi_open_list;

// A reader of the log keeps each record in memory until the next checkpoint.
#define PPI_MANY_UNCHECKED (1u << 18)

typedef struct ppi_collect {
  pthread_t thread;
  ppi_cursor *cursors;   // by lane slot
  uint32_t *range_seqs;  // cross-thread: slots by seq, until kept
  ppi_open_list open;    // of the checkpoint being taken
  ppi_names_turn_state names_turn;
  uint64_t checkpoint_ticks;  // of the last such look that was whole
  uint64_t last_second_ticks;
  uint64_t num_unchecked;     // records of lanes since the last checkpoint
  uint64_t num_before_start;  // markers that came while a marker started it
  uint32_t num_left;          // lanes without their threads, but with records
  uint64_t edges_followed;
  uint64_t cut_before;  // cross-thread ranges begun before this are cut
  ppi_placed placed;
  ppi_kernels kernels;
  ppi_kernels_demand kernels_demand;
  uint64_t cpu_open[4];
  bool cpu_is_open, clock_jumped;
  bool is_whole;  // the last look of a checkpoint at lanes
  bool is_idle;   // the last cycle left nothing that could change by itself
} ppi_collect;
