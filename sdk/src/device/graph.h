// SPDX-License-Identifier: Apache-2.0
//
// Device ranges that were captured into a graph as two event nodes: each launch
// of the graph that the collector sees becomes a range of its own. Collector's
// thread.
//
// A launch is seen when its events have passed and the next launch has not
// begun. Nobody counts launches, so one that came and went between two looks
// leaves no trace.
#ifndef PPI_GRAPH_H_
#define PPI_GRAPH_H_

#include "device/resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_graph_pin takes the events of a captured range out of its slot: a graph
// may record them for as long as it lives, so they are never used otherwise and
// never destroyed.
void ppi_graph_pin(ppi_device_session *session, uint32_t index);
// ppi_graph_prepare makes or renews what times are compared with.
void ppi_graph_prepare(ppi_device_session *session);
// ppi_graph_see answers the index + 1 of an ended slot with a launch of graph
// range `i` that was not told yet; 0 when there is none.
uint32_t ppi_graph_see(ppi_device_session *session, uint32_t i,
                       ppi_resolve_stats *stats);
// ppi_graph_forget_pool drops what was of a pool that is gone.
void ppi_graph_forget_pool(ppi_device_session *session, uint32_t pool);
void ppi_graph_clear(ppi_device_session *session);

#ifdef __cplusplus
}
#endif

#endif  // PPI_GRAPH_H_
