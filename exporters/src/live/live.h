// SPDX-License-Identifier: Apache-2.0
//
// A sink that counts for processes that watch a run, and only while one does;
// else a batch costs one load.
#pragma once

#include "live/live_table.h"
#include "pprof/session.h"

PPROF_BEGIN_C_

typedef struct ppi_live ppi_live;

typedef struct ppi_live_options {
  // Bounds of the histograms, rising; 0: ppi_live_usual_bounds.
  const uint64_t *bounds_ns;
  size_t num_bounds;
  // Called at each checkpoint, on the collector's thread; may be NULL.
  bool (*stats)(void *user, pprof_stats *out);
  void *user;
} ppi_live_options;

// 100 us to 10 s, three in each power of ten.
extern const uint64_t ppi_live_usual_bounds[];
extern const size_t ppi_live_num_usual_bounds;

pprof_status ppi_live_create(const ppi_live_options *options, ppi_live **out);
// Destroyed as sinks are.
pprof_sink *ppi_live_sink(ppi_live *live);

// ppi_live_watch adds a watcher; the first one starts the counting. Any thread
// but the collector's, while the sink lives. Result: a descriptor of the table,
// the caller's; -1: no memory, or no such files on this system.
int ppi_live_watch(ppi_live *live);
// Call once for each watcher; after the last one nothing is counted.
void ppi_live_leave(ppi_live *live);
// In a forked child, which has no watchers: closes the parent's descriptor.
void ppi_live_in_forked_child(ppi_live *live);

PPROF_END_C_
