// SPDX-License-Identifier: Apache-2.0
//
// One window on its way: its sinks, its events' figures, its totals.
#pragma once

#include "event/tee.h"
#include "event/texts.h"
#include "window/window_types.h"

PPROF_BEGIN_C_

// One window, from its opening until its makers got it. The collector's,
// then, once it is in the queue, the completion thread's.
typedef struct ppi_window_feed {
  struct ppi_window_feed *next;
  uint32_t index;
  uint64_t close_ns;
  bool is_closed, is_done;  // done: nothing of it is to come
  ppi_tee tee;
  size_t places[PPI_MAX_WINDOW_MAKERS];  // in the tee, + 1; 0: no sink
  pprof_status status;                   // why it is incomplete
  ppi_tally tally;
  ppi_counts before;  // as it opened
  uint64_t run[PPI_NUM_TOTALS];
  uint64_t clamped_before, clock_error_ns;
  // By lane, the end of the input of keeping sinks.
  uint64_t *given;
  size_t num_given, given_capacity;
  ppi_total *items;
  size_t num_items;
  ppi_texts notes;
} ppi_window_feed;

void ppi_window_feed_destroy(ppi_window_feed *feed);
// The feed's totals: of its events, and by how much the counts have grown.
pprof_status ppi_window_feed_count(ppi_window_feed *feed,
                                   const ppi_counts *after);
pprof_status ppi_window_feed_total(ppi_window_feed *feed,
                                   const ppi_counts *now);
void ppi_counts_clear(ppi_counts *counts);

PPROF_END_C_
