// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue between two stages. Every stage thread takes from one and
// gives to the next; its depth is a counter in the trace.
#ifndef EXAMPLES_PIPELINE_QUEUE_H_
#define EXAMPLES_PIPELINE_QUEUE_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include "pprof/mark.h"

enum { QUEUE_CAPACITY = 8 };

struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pprof_site *depth_site;
  void *items[QUEUE_CAPACITY];
  size_t first, num_items;
  bool closed;
};

void queue_init(struct queue *queue, pprof_site *depth_site);
void queue_destroy(struct queue *queue);
void queue_put(struct queue *queue, void *item);  // waits while full
void *queue_take(struct queue *queue);  // waits; NULL once closed and empty
void queue_close(struct queue *queue);

#endif  // EXAMPLES_PIPELINE_QUEUE_H_
