// SPDX-License-Identifier: Apache-2.0
//
// Complete windows, and the thread that hands them over.
#pragma once

#include <pthread.h>

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

// Makers get them here, in the order in which windows were put in.
typedef struct ppi_window_queue {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  bool is_running, is_ending;
  ppi_window_feed *first, **end;
  size_t num;  // with the one that makers are getting
  const ppi_window_maker *makers;
  size_t num_makers;
  pprof_status error;  // the first
} ppi_window_queue;

void ppi_window_queue_init(ppi_window_queue *queue);
pprof_status ppi_window_queue_start(ppi_window_queue *queue,
                                    const ppi_window_maker *makers,
                                    size_t num_makers);
// Takes `feed`.
void ppi_window_queue_put(ppi_window_queue *queue, ppi_window_feed *feed);
size_t ppi_window_queue_len(ppi_window_queue *queue);
void ppi_window_queue_fail(ppi_window_queue *queue, pprof_status status);
// Waits until all makers got theirs; answers the first error.
pprof_status ppi_window_queue_end(ppi_window_queue *queue);
void ppi_window_queue_destroy(ppi_window_queue *queue);

// Whether this thread is inside a `complete`. A wait for that thread would then
// wait for itself.
bool ppi_window_completing(void);

PPROF_END_C_
