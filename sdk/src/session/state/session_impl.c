// SPDX-License-Identifier: Apache-2.0
//
// What is set before the start.
#include "session/state/session_impl.h"

#include "session/state/session_state.h"

pprof_status ppi_session_set_ring(pprof_session *session, uint64_t bytes) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->ring_bytes = bytes;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_device_mode(pprof_session *session,
                                         ppi_device_mode mode) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->device_mode = mode;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_graph_nodes(pprof_session *session,
                                         bool external) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->graph_nodes = external;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_info(pprof_session *session, const char *key,
                                  const char *value) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  return ppi_texts_add(&session->extra_info, key, value)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}
