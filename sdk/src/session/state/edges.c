// SPDX-License-Identifier: Apache-2.0
//
// What an edge changes for the collector: what is cut, and whose CPU time it
// is.
#include "session/state/edges.h"

// Sinks' errors stay in the tee; what comes up here is memory that ran out.
// The figures are not whole then, and stop says so.
void ppi_session_keep_error(pprof_session *session, pprof_status status) {
  if (session->result == PPROF_STATUS_OK) session->result = status;
}

static void account_cpu(pprof_session *session, bool opens) {
  uint64_t now[4];
  if (opens == session->cpu_is_open) return;
  ppi_cpu_times(now);
  session->cpu_is_open = opens;
  ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  for (int i = 0; i < 4; i++) {
    if (opens)
      session->cpu_open[i] = now[i];
    else
      header->cpu[i] += now[i] - session->cpu_open[i];
  }
}

void ppi_edges_see(pprof_session *session) {
  ppi_drain *drain = &session->drain;
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  ppi_session_keep_error(session, ppi_drain_edges(drain));
  for (; session->edges_followed < drain->edges_seen;
       session->edges_followed++) {
    const ppi_edge *edge =
        &header->edges[session->edges_followed % PPI_MAX_EDGES];
    session->cut_before = edge->ticks;
    if (edge->flags & PPI_EDGE_CLOSES) account_cpu(session, false);
    if (edge->flags & PPI_EDGE_OPENS) account_cpu(session, true);
  }
}
