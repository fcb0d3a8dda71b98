// SPDX-License-Identifier: Apache-2.0
//
// Device time of the kernels, copies and sets that the ranges of one path
// launched.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// Why the device ran nothing of a call between its first and last work.
typedef enum ppi_gap {
  PPI_GAP_NOT_LAUNCHED = 0,  // until the launch call of the next work
  PPI_GAP_LAUNCH,            // from that call on
  PPI_GAP_QUEUED,            // the next work was already launched
  PPI_NUM_GAPS
} ppi_gap;

typedef struct ppi_device_use {
  uint64_t kernels, copies;  // copies and sets
  uint64_t launches;         // calls; a graph's is one
  uint64_t by_wait;  // of these, launched by a thread that a range waited for
  uint64_t copied_bytes, copy_ns;
  uint64_t busy_ns;  // the union
  // For calls with device work. A span lasts from the first start to the last
  // end. host_ns is the ranges' host time, gap_ns the gaps in spans.
  ppi_spread spans;
  ppi_histogram span_times;
  uint64_t host_ns, gap_ns[PPI_NUM_GAPS];
  ppi_histogram delays;  // from each launch to the first start
} ppi_device_use;

pprof_status ppi_device_use_merge(ppi_device_use *into,
                                  const ppi_device_use *from);
static inline void ppi_device_use_clear(ppi_device_use *use) {
  ppi_histogram_clear(&use->span_times);
  ppi_histogram_clear(&use->delays);
}
static inline uint64_t ppi_device_use_idle(const ppi_device_use *use) {
  uint64_t sum_ns = 0;
  for (int i = 0; i < PPI_NUM_GAPS; i++) sum_ns += use->gap_ns[i];
  return sum_ns;
}

PPROF_END_C_
