// SPDX-License-Identifier: Apache-2.0
//
// The waits of device ranges from submission on the host to start on the
// device, within the clock error.
#pragma once

#include "pprof/event.h"
#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// All zero is the empty queue.
typedef struct ppi_queue {
  uint64_t calls;      // device ranges, also those without a time
  uint64_t device_ns;  // sum of device times
  ppi_spread delay;    // device start - submission
  ppi_histogram delays;
  uint64_t error_ns;        // sum of the stated clock errors
  uint64_t num_unresolved;  // delays below their own clock error
} ppi_queue;

// ppi_queue_add takes a device range with a time; the caller counts `calls`.
bool ppi_queue_add(ppi_queue *queue, const pprof_event *event);
bool ppi_queue_merge(ppi_queue *into, const ppi_queue *from);
void ppi_queue_clear(ppi_queue *queue);

// A mean delay is known if it is not below the mean clock error. A quantile is
// known if its rank is above the number of unresolved delays.
bool ppi_queue_knows_mean(const ppi_queue *queue);
bool ppi_queue_knows_quantile(const ppi_queue *queue, unsigned percent);

PPROF_END_C_
