// SPDX-License-Identifier: Apache-2.0
//
// Figures of running processes for Prometheus: in its text format, or in
// OpenMetrics.
#pragma once

#include "file/text.h"
#include "live/live_read.h"

PPROF_BEGIN_C_

typedef struct ppi_metrics_process {
  long pid;
  const char *name;  // of the program
  const ppi_live_view *view;
} ppi_metrics_process;

typedef struct ppi_metrics_options {
  bool is_openmetrics;  // with the slowest request of each stage as exemplar
  size_t max_stages;    // of each process; later ones are <other>
} ppi_metrics_options;

#define PPI_METRICS_USUAL_STAGES 200
#define PPI_METRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define PPI_METRICS_OPEN_TYPE \
  "application/openmetrics-text; version=1.0.0; charset=utf-8"

void ppi_live_metrics(const ppi_metrics_process *processes, size_t num,
                      const ppi_metrics_options *options, ppi_page *page);

// ppi_metrics_bounds reads a value of the key metrics.buckets: `usual`,
// `genai`, or rising times such as "1ms 10ms 1s". Answers the number of bounds;
// 0: it is no such value.
size_t ppi_metrics_bounds(const char *text,
                          bool (*parse)(const char *text, uint64_t *out_us),
                          uint64_t out_ns[PPI_LIVE_MAX_BOUNDS]);

PPROF_END_C_
