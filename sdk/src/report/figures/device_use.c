// SPDX-License-Identifier: Apache-2.0
#include "report/figures/device_use.h"

pprof_status ppi_device_use_merge(ppi_device_use *into,
                                  const ppi_device_use *from) {
  into->kernels += from->kernels;
  into->copies += from->copies;
  into->launches += from->launches;
  into->copied_bytes += from->copied_bytes;
  into->copy_ns += from->copy_ns;
  into->busy_ns += from->busy_ns;
  into->span_ns += from->span_ns;
  for (int i = 0; i < PPI_NUM_GAPS; i++) into->gap_ns[i] += from->gap_ns[i];
  return ppi_histogram_merge(&into->delays, &from->delays);
}
