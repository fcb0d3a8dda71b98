// SPDX-License-Identifier: Apache-2.0
//
// Device ranges that were captured into a graph as two event nodes: each launch
// of the graph that the collector sees becomes a range of its own. Collector's
// thread.
//
// A launch is found when its events have passed and the next launch has not
// begun. Nobody counts launches, so one that came and went between two looks
// leaves no trace.
#pragma once

#include "device/device_clock.h"

// A range that became two nodes of a graph, until the session ends.
typedef struct ppi_graph_range {
  void *begin, *end;
  uint32_t pool;
  uint32_t site, lane, stream;
  uint16_t depth;
  uint8_t pairing;         // PPROF_FLAG_PAIRED and INNER
  bool is_known;           // `begin_ns` is what was reported last, or before
  int64_t begin_ns;        // of the begin event, since the pool's reference
  uint64_t capture_ticks;  // when it was captured; no launch is earlier
} ppi_graph_range;

struct ppi_graphs {
  ppi_graph_range ranges[PPI_GRAPH_RANGES];
  uint32_t num_ranges;
  // Times of graphs' events are compared by their distance from these.
  void *references[PPI_EVENT_POOLS];
  uint64_t reference_ns[PPI_EVENT_POOLS];  // when they were made
};

// ppi_graph_pin takes the events of a captured range out of its slot: a graph
// may record them for as long as it lives, so they are never used otherwise and
// never destroyed.
void ppi_graph_pin(ppi_device_session *session, uint32_t index);
// ppi_graph_prepare makes or renews what times are compared with.
void ppi_graph_prepare(ppi_device_session *session);
// ppi_graph_see answers the index + 1 of an ended slot with a launch of graph
// range `i` that was not reported yet; 0 when there is none.
uint32_t ppi_graph_see(ppi_device_session *session, uint32_t i,
                       ppi_placed *placed);
// ppi_graph_forget_pool drops what was of a pool that is gone.
void ppi_graph_forget_pool(ppi_device_session *session, uint32_t pool);
void ppi_graph_clear(ppi_device_session *session);
