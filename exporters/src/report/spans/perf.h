// SPDX-License-Identifier: Apache-2.0
//
// The time of one run's steps, and the part of it that reads data. Events come
// in any order. One thread at a time.
#pragma once

#include "report/figures/figures.h"
#include "report/spans/union.h"

PPROF_BEGIN_C_

// By start, then the other fields.
typedef struct ppi_perf_step {
  uint64_t start_ns, end_ns;
  double items;
} ppi_perf_step;

// Dataloader ranges that begin in the same steps, as far as steps are decided.
typedef struct ppi_perf_readers {
  uint64_t time_ns;  // where one of them begins
  ppi_spread spread;
} ppi_perf_readers;

// All zero is the empty one.
typedef struct ppi_perf {
  ppi_report_perf sums;
  // The first steps so far. An earlier step replaces the last one, which is
  // then a batch for good.
  ppi_perf_step warm_up[PPI_PERF_WARM_UP];
  size_t num_warm_up;
  ppi_union batches;          // that later Dataloader ranges may begin in
  ppi_perf_readers *readers;  // not decided: in a batch or not
  size_t num_readers, readers_capacity;
  // Of the checkpoint to come: open steps, starts of open Dataloader ranges.
  ppi_span_list open_steps, open_readers;
} ppi_perf;

// ppi_perf_take takes any host range; only steps and Dataloader ranges count.
bool ppi_perf_take(ppi_perf *perf, const pprof_event *event, uint32_t category);
// ppi_perf_open takes a host range that a checkpoint lists as open, before
// ppi_perf_settle is called for that checkpoint.
bool ppi_perf_open(ppi_perf *perf, const pprof_event *event, uint32_t category);
// ppi_perf_settle promises that no host range that begins before `horizon_ns`
// comes later, except the ranges listed as open.
bool ppi_perf_settle(ppi_perf *perf, uint64_t horizon_ns);
// ppi_perf_fill is called once, when nothing comes later.
bool ppi_perf_fill(ppi_perf *perf, ppi_report_perf *out);
void ppi_perf_clear(ppi_perf *perf);

PPROF_END_C_
