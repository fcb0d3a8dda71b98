// SPDX-License-Identifier: Apache-2.0
//
// Runs the completion thread, which finishes the sinks of one window after the
// other and hands them to their makers. It holds no lock meanwhile, so a slow
// one delays only its successors.
#include "window/window_queue.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/start_thread.h"
#include "base/thread_id.h"

// ---- one window's totals ----

// From its events where these have counts, else the difference of the counts
// between open and close, so that adjacent windows add up.

static const ppi_total_key growing[] = {
    PPI_TOTAL_NAMES_OVERFLOWED, PPI_TOTAL_CPU_PROCESS_NS,
    PPI_TOTAL_CPU_ELAPSED_NS, PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS,
    PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS};

void ppi_counts_clear(ppi_counts *counts) {
  ppi_tally_clear(&counts->lanes);
  *counts = (ppi_counts){0};
}

void ppi_window_feed_destroy(ppi_window_feed *feed) {
  ppi_tee_destroy_sinks(&feed->tee);
  ppi_tally_clear(&feed->tally);
  ppi_counts_clear(&feed->before);
  ppi_texts_clear(&feed->notes);
  PPI_FREE_ALL(feed->given, feed->items, feed);
}

static uint64_t grown_by(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

static pprof_status add_lane(ppi_window_feed *feed, uint32_t lane,
                             const uint64_t *after) {
  const ppi_tally *before = &feed->before.lanes;
  pprof_status status = PPROF_STATUS_OK;
  for (int key = 0; key < PPI_NUM_TOTALS && status == PPROF_STATUS_OK; key++) {
    uint64_t old = ppi_tally_get(before, lane, (uint32_t)key);
    status = ppi_tally_add(&feed->tally, lane, (ppi_total_key)key,
                           grown_by(old, after[key]));
  }
  return status;
}

pprof_status ppi_window_feed_count(ppi_window_feed *feed,
                                   const ppi_counts *after) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < after->lanes.num_lanes && status == PPROF_STATUS_OK;
       i++)
    status = add_lane(feed, (uint32_t)i, after->lanes.lanes[i]);
  for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
    feed->run[growing[i]] =
        grown_by(feed->before.run[growing[i]], after->run[growing[i]]);
  feed->clamped_before = feed->before.run[PPI_TOTAL_CLAMPED];
  ppi_counts_clear(&feed->before);
  return status;
}

pprof_status ppi_window_feed_total(ppi_window_feed *feed,
                                   const ppi_counts *now) {
  // Device times are placed after the window has closed, too.
  feed->run[PPI_TOTAL_CLAMPED] =
      grown_by(feed->clamped_before, now->run[PPI_TOTAL_CLAMPED]);
  feed->run[PPI_TOTAL_CLOCK_ERROR_NS] = feed->clock_error_ns;
  feed->run[PPI_TOTAL_OWN_COST] = now->run[PPI_TOTAL_OWN_COST];
  feed->run[PPI_TOTAL_CRASH_SAFE] = now->run[PPI_TOTAL_CRASH_SAFE];
  feed->run[PPI_TOTAL_OWN_COST_TOTAL_NS] = ppi_tally_own_cost_ns(
      ppi_tally_get(&feed->tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED),
      feed->run[PPI_TOTAL_OWN_COST]);
  return ppi_tally_items_beside(&feed->tally, feed->run, &feed->items,
                                &feed->num_items);
}

// ---- the thread ----

// The OS thread that completes windows, 0: none; atomic. A child forked by a
// maker's code completes none: its thread has a number of its own.
static uint32_t completing_thread;

bool ppi_window_completing(void) {
  uint32_t thread = __atomic_load_n(&completing_thread, __ATOMIC_ACQUIRE);
  return thread && thread == ppi_thread_id();
}

void ppi_window_queue_init(ppi_window_queue *queue) {
  *queue = (ppi_window_queue){.end = NULL};
  queue->end = &queue->first;
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->changed, NULL);
}

void ppi_window_queue_destroy(ppi_window_queue *queue) {
  pthread_mutex_destroy(&queue->mutex);
  pthread_cond_destroy(&queue->changed);
}

void ppi_window_queue_fail(ppi_window_queue *queue, pprof_status status) {
  pthread_mutex_lock(&queue->mutex);
  if (queue->error == PPROF_STATUS_OK) queue->error = status;
  pthread_mutex_unlock(&queue->mutex);
}

size_t ppi_window_queue_len(ppi_window_queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  size_t num = queue->num;
  pthread_mutex_unlock(&queue->mutex);
  return num;
}

static pprof_status finish_sinks(ppi_window_feed *feed) {
  pprof_totals totals = {feed->items, feed->num_items, feed->notes.items,
                         feed->notes.num};
  feed->tee.base.finish(&feed->tee.base, &totals);
  return feed->status == PPROF_STATUS_OK ? feed->tee.first_error : feed->status;
}

static void deliver(ppi_window_queue *queue, ppi_window_feed *feed) {
  ppi_window_queue_fail(queue, finish_sinks(feed));
  for (size_t i = 0; i < queue->num_makers && ppi_window_completing(); i++) {
    const ppi_window_maker *maker = &queue->makers[i];
    pprof_sink *sink = NULL;
    pprof_status status = feed->status;
    if (feed->places[i]) {
      sink = feed->tee.sinks[feed->places[i] - 1];
      pprof_status own = feed->tee.errors[feed->places[i] - 1];
      if (own != PPROF_STATUS_OK) status = own;
    }
    maker->complete(maker->user, feed->index, sink, status);
  }
  ppi_tee_forget_sinks(&feed->tee);
}

static ppi_window_feed *take_first(ppi_window_queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  while (!queue->first && !queue->is_ending)
    pthread_cond_wait(&queue->changed, &queue->mutex);
  ppi_window_feed *feed = queue->first;
  if (feed) {
    queue->first = feed->next;
    if (!queue->first) queue->end = &queue->first;
  }
  pthread_mutex_unlock(&queue->mutex);
  return feed;
}

static void *complete_all(void *argument) {
  ppi_window_queue *queue = argument;
  __atomic_store_n(&completing_thread, ppi_thread_id(), __ATOMIC_RELEASE);
  ppi_window_feed *feed;
  while ((feed = take_first(queue))) {
    deliver(queue, feed);
    if (!ppi_window_completing()) return NULL;
    ppi_window_feed_destroy(feed);
    pthread_mutex_lock(&queue->mutex);
    queue->num--;
    pthread_mutex_unlock(&queue->mutex);
  }
  __atomic_store_n(&completing_thread, 0, __ATOMIC_RELEASE);
  return NULL;
}

// The application's signals are not ours to take.
pprof_status ppi_window_queue_start(ppi_window_queue *queue,
                                    const ppi_window_maker *makers,
                                    size_t num_makers) {
  queue->makers = makers;
  queue->num_makers = num_makers;
  if (ppi_start_thread(&queue->thread, "pprof-windows", complete_all, queue))
    return PPROF_STATUS_NO_MEMORY;
  queue->is_running = true;
  return PPROF_STATUS_OK;
}

void ppi_window_queue_put(ppi_window_queue *queue, ppi_window_feed *feed) {
  feed->next = NULL;
  pthread_mutex_lock(&queue->mutex);
  *queue->end = feed;
  queue->end = &feed->next;
  queue->num++;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
}

pprof_status ppi_window_queue_end(ppi_window_queue *queue) {
  if (!queue->is_running) return queue->error;
  pthread_mutex_lock(&queue->mutex);
  queue->is_ending = true;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
  pthread_join(queue->thread, NULL);
  queue->is_running = false;
  return queue->error;
}
