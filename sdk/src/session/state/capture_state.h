// SPDX-License-Identifier: Apache-2.0
//
// The state of a session's steps and windows.
#pragma once

#include <pthread.h>

#include "rules/capture.h"

// The state of a capture rule.
typedef struct ppi_rule_state {
  int64_t from_ns;   // time: what it counts from
  bool is_fixed;     // ... while its window is open
  bool is_open;      // marker: it wants a window
  bool has_last;     // ... until the end of an occurrence that has begun
  bool is_over;      // ... and nothing more
  uint64_t seen;     // marker: occurrences, counted again after each window
  uint64_t windows;  // the first one that is not over
} ppi_rule_state;

typedef enum ppi_demand_state {
  PPI_DEMAND_NONE = 0,
  PPI_DEMAND_WAITS = 1,  // for a step, or for somebody else's window
  PPI_DEMAND_OPEN = 2
} ppi_demand_state;
typedef struct ppi_demanded {
  ppi_demand_state state;
  uint64_t steps;  // 0: by time
  uint64_t end_step;
  int64_t end_ns;
  uint64_t number;  // of demands so far
} ppi_demanded;

// Steps and windows are process-wide; `mutex` guards every change.
typedef struct ppi_window_state {
  pthread_mutex_t mutex;
  bool is_live;   // between the start's publication and the stop
  bool was_live;  // that has been
  ppi_step_phase phase;
  uint64_t latest_ticks;
  uint32_t epoch;  // in force, 0: off
  // Atomic: the number of the spool's edges with a published epoch. Markers do
  // not find a later edge: they continue on the stacks that it ends.
  uint64_t num_published;
  uint32_t next_window;
  bool had_none;  // at the stop: no window had opened
  ppi_capture capture;
  ppi_rule_state rules[PPI_SCHEDULE_MAX_RULES];
  ppi_demanded demand;
  bool wants_renewal;  // a new epoch that waits for the collector
  int64_t next_ns;     // when to look again, as last found
  int64_t due_ns;      // atomic: the same
  bool watches;        // atomic: markers are counted
} ppi_window_state;

// The step that is open, and its range.
typedef struct ppi_steps {
  uint64_t number;
  uint64_t start_ticks;
  uint64_t range;  // 0: none is open
  bool is_cut;     // that range began later than the step
  uint32_t site;
  bool called;  // pprof_step was, ever
} ppi_steps;
