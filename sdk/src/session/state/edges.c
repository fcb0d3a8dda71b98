// SPDX-License-Identifier: Apache-2.0
//
// Applies an edge in the collector: it cuts open ranges, and accounts CPU time.
#include "session/state/edges.h"

// Sinks' errors stay in the tee; errors that arrive here are out of memory. The
// figures are then incomplete, and stop reports that.
void ppi_session_keep_error(pprof_session *session, pprof_status status) {
  if (session->result == PPROF_STATUS_OK) session->result = status;
}

static void account_cpu(ppi_collect *collect, bool opens) {
  uint64_t now[4];
  if (opens == collect->cpu_is_open) return;
  ppi_cpu_times(now);
  collect->cpu_is_open = opens;
  ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  for (int i = 0; i < 4; i++) {
    if (opens)
      collect->cpu_open[i] = now[i];
    else
      header->cpu[i] += now[i] - collect->cpu_open[i];
  }
}

void ppi_edges_see(pprof_session *session) {
  ppi_collect *collect = &session->collect;
  ppi_drain *drain = &session->drain;
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  ppi_session_keep_error(session, ppi_drain_edges(drain));
  for (; collect->edges_followed < drain->edges_seen;
       collect->edges_followed++) {
    const ppi_edge *edge =
        &header->edges[collect->edges_followed % PPI_MAX_EDGES];
    collect->cut_before = edge->ticks;
    if (edge->flags & PPI_EDGE_CLOSES) account_cpu(collect, false);
    if (edge->flags & PPI_EDGE_OPENS) account_cpu(collect, true);
  }
}
