// SPDX-License-Identifier: Apache-2.0
//
// Merges the device work of rows of one path.
#include "report/figures/device_use.h"

pprof_status ppi_device_use_merge(ppi_device_use *into,
                                  const ppi_device_use *from) {
  into->kernels += from->kernels;
  into->copies += from->copies;
  into->launches += from->launches;
  into->by_wait += from->by_wait;
  into->copied_bytes += from->copied_bytes;
  into->copy_ns += from->copy_ns;
  into->busy_ns += from->busy_ns;
  ppi_spread_merge(&into->spans, &from->spans);
  into->host_ns += from->host_ns;
  for (int i = 0; i < PPI_NUM_GAPS; i++) into->gap_ns[i] += from->gap_ns[i];
  pprof_status status =
      ppi_histogram_merge(&into->span_times, &from->span_times);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_histogram_merge(&into->delays, &from->delays);
}
