// SPDX-License-Identifier: Apache-2.0
//
// The shared types of window sinks: makers of a sink for each window, and
// counts beside a window's events.
#pragma once

#include "event/tally.h"
#include "pprof/session.h"

// A maker of a sink for each window. `complete` is called for every window of
// an `open`, also if `open` gave none (`sink` is NULL).
typedef struct ppi_window_maker {
  // Collector's thread. NULL: no sink of this maker's for that window.
  pprof_sink *(*open)(void *user, uint32_t window);
  // Completion thread, after the sink's finish; takes `sink`. `status` is the
  // sink's first error.
  void (*complete)(void *user, uint32_t window, pprof_sink *sink,
                   pprof_status status);
  void (*destroy)(void *user);  // with the session; may be NULL
  void *user;
  // Collector's thread; instead of both, for a window that is skipped. May be
  // NULL.
  void (*skipped)(void *user, uint32_t window);
} ppi_window_maker;

#define PPI_MAX_WINDOW_MAKERS 8u

// The counts so far that no event has.
typedef struct ppi_counts {
  ppi_tally lanes;
  uint64_t run[PPI_NUM_TOTALS];  // those that are not per lane
} ppi_counts;
