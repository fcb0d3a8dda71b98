// SPDX-License-Identifier: Apache-2.0
//
// A log of as many ranges as wanted, written by the library's own writer.
#pragma once

#include "pprof/base.h"

typedef struct bench_log {
  uint64_t num_ranges;  // at least: what the last ones lie in is added
  uint32_t num_lanes;
  uint64_t ranges_per_second;  // of the log's own time: one checkpoint
  uint32_t device_percent;     // of inner ranges: that launch a kernel
  uint64_t request_ranges;     // of each request, about; 0: no requests
} bench_log;

enum { BENCH_LOG_NAMES = 33, BENCH_LOG_STEP = 10000, BENCH_LOG_LANES = 64 };

// bench_log_write writes `path`. The same `log` gives the same events. `out`
// is how many ranges there are,
// kernels included; steps come on top.
pprof_status bench_log_write(const bench_log *log, const char *path,
                             uint64_t *out, pprof_error *error);
