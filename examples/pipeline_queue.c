// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue between two stages, on a mutex and a condition.
#include "pipeline_queue.h"

#include <string.h>

void queue_init(struct queue *queue, pprof_site *depth_site) {
  memset(queue, 0, sizeof(*queue));
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->changed, NULL);
  queue->depth_site = depth_site;
}

void queue_destroy(struct queue *queue) {
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->mutex);
}

// Counting inside the lock keeps the counter's values in the queue's order.
static void depth_changed(struct queue *queue) {
  pprof_count(queue->depth_site, (double)queue->num_items);
  pthread_cond_broadcast(&queue->changed);
}

void queue_put(struct queue *queue, void *item) {
  pthread_mutex_lock(&queue->mutex);
  while (queue->num_items == QUEUE_CAPACITY)
    pthread_cond_wait(&queue->changed, &queue->mutex);
  queue->items[(queue->first + queue->num_items) % QUEUE_CAPACITY] = item;
  queue->num_items++;
  depth_changed(queue);
  pthread_mutex_unlock(&queue->mutex);
}

void *queue_take(struct queue *queue) {
  void *item = NULL;
  pthread_mutex_lock(&queue->mutex);
  while (queue->num_items == 0 && !queue->closed)
    pthread_cond_wait(&queue->changed, &queue->mutex);
  if (queue->num_items > 0) {
    item = queue->items[queue->first];
    queue->first = (queue->first + 1) % QUEUE_CAPACITY;
    queue->num_items--;
    depth_changed(queue);
  }
  pthread_mutex_unlock(&queue->mutex);
  return item;
}

void queue_close(struct queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  queue->closed = true;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
}
