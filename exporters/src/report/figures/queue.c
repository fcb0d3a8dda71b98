// SPDX-License-Identifier: Apache-2.0
//
// Adds up queue delays of the device ranges of one name on one device.
#include "report/figures/queue.h"

#include "base/rank.h"

bool ppi_queue_add(ppi_queue *queue, const pprof_event *event) {
  uint64_t start_ns = event->device_start_ns, end_ns = event->device_end_ns;
  uint64_t delay_ns =
      start_ns > event->start_ns ? start_ns - event->start_ns : 0;
  if (end_ns > start_ns) queue->device_ns += end_ns - start_ns;
  queue->error_ns += event->device_error_ns;
  queue->num_unresolved += delay_ns < event->device_error_ns;
  ppi_spread_add(&queue->delay, delay_ns);
  return ppi_histogram_add(&queue->delays, delay_ns);
}

bool ppi_queue_merge(ppi_queue *into, const ppi_queue *from) {
  into->calls += from->calls;
  into->device_ns += from->device_ns;
  into->error_ns += from->error_ns;
  into->num_unresolved += from->num_unresolved;
  ppi_spread_merge(&into->delay, &from->delay);
  return ppi_histogram_merge(&into->delays, &from->delays);
}

void ppi_queue_clear(ppi_queue *queue) {
  ppi_histogram_clear(&queue->delays);
  *queue = (ppi_queue){0};
}

bool ppi_queue_knows_mean(const ppi_queue *queue) {
  return queue->delay.n && queue->delay.sum >= queue->error_ns;
}

// A delay less its error is a lower bound. Unresolved delays have the bound 0
// and sort first. The quantile of the bounds is above 0 if its rank is beyond
// these.
bool ppi_queue_knows_quantile(const ppi_queue *queue, unsigned percent) {
  uint64_t n = queue->delay.n;
  return n &&
         ppi_rank_of(n, percent * PPI_RANK_PERCENT) > queue->num_unresolved;
}
