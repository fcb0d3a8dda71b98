// SPDX-License-Identifier: Apache-2.0
//
// Complete windows, and the thread that hands them over.
#pragma once

#include <pthread.h>

#include "window/window_feed.h"

PPROF_BEGIN_C_

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
