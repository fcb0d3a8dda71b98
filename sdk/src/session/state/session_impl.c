// SPDX-License-Identifier: Apache-2.0
//
// What is set before the start, and notes.
#include "session/state/session_impl.h"

#include "session/state/session_state.h"

pprof_status ppi_session_set_ring(pprof_session *session, uint64_t bytes) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->settings.ring_bytes = bytes;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_device_mode(pprof_session *session,
                                         ppi_device_mode mode) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->settings.device_mode = mode;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_graph_nodes(pprof_session *session,
                                         bool external) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->settings.graph_nodes = external;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_kernels(pprof_session *session,
                                     const ppi_kernel_source *source,
                                     bool are_on) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->settings.kernels = source;
  session->settings.kernels_are_on = are_on;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_info(pprof_session *session, const char *key,
                                  const char *value) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  return ppi_texts_add(&session->settings.info, key, value)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

void ppi_session_note(pprof_session *session, const char *key,
                      const char *text) {
  ppi_notes_add(&session->notes, key, text);
}
