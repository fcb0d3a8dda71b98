// SPDX-License-Identifier: Apache-2.0
//
// A sink that counts for those who look at a running process, and only while
// somebody does: one load for each batch otherwise.
#pragma once

#include "live/live_table.h"
#include "pprof/event.h"
#include "pprof/session.h"

PPROF_BEGIN_C_

typedef struct ppi_live ppi_live;

typedef struct ppi_live_options {
  // Of the histograms, rising; 0: the usual ones, ppi_live_usual_bounds.
  const uint64_t *bounds_ns;
  size_t num_bounds;
  // Asked at each checkpoint, on the collector's thread; may be NULL.
  bool (*stats)(void *user, pprof_stats *out);
  void *user;
} ppi_live_options;

// 100 us to 10 s, three in each power of ten.
extern const uint64_t ppi_live_usual_bounds[];
extern const size_t ppi_live_num_usual_bounds;

pprof_status ppi_live_create(const ppi_live_options *options, ppi_live **out);
// Destroyed as sinks are.
pprof_sink *ppi_live_sink(ppi_live *live);

// ppi_live_watch begins to count where nobody looked before. Any thread but
// the collector's, while the sink lives. Result: a descriptor of the table,
// the caller's; -1: no memory, or no such files here.
int ppi_live_watch(ppi_live *live);
// Once for each that watched; behind the last one nothing is counted.
void ppi_live_leave(ppi_live *live);
// In a forked child, which has nobody who looks: closes what it has of them.
void ppi_live_in_forked_child(ppi_live *live);

PPROF_END_C_
