// SPDX-License-Identifier: Apache-2.0
//
// How long device ranges waited: from their submission on the host to their
// start on the device, as far as the clock error lets it be known.
#pragma once

#include "pprof/event.h"
#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// All zero is the empty queue.
typedef struct ppi_queue {
  uint64_t calls;      // device ranges; those without a time count only here
  uint64_t device_ns;  // sum of device times
  ppi_spread delay;    // device start less submission
  ppi_histogram delays;
  uint64_t error_ns;        // sum of the stated clock errors
  uint64_t num_unresolved;  // delays below their own clock error
} ppi_queue;

// ppi_queue_add takes a device range that has a time; `calls` is the caller's.
pprof_status ppi_queue_add(ppi_queue *queue, const pprof_event *event);
pprof_status ppi_queue_merge(ppi_queue *into, const ppi_queue *from);
void ppi_queue_clear(ppi_queue *queue);

// What of a delay is more than clock error: the mean, if it is not below the
// mean error; a quantile, if fewer than so many delays are unresolved.
bool ppi_queue_knows_mean(const ppi_queue *queue);
bool ppi_queue_knows_quantile(const ppi_queue *queue, unsigned percent);

PPROF_END_C_
