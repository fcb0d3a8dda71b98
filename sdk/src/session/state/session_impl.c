// SPDX-License-Identifier: Apache-2.0
//
// Implements settings before the start, and notes.
#include "session/state/session_impl.h"

#include "session/state/session_state.h"

#define SETTER(name, type, field)                                           \
  pprof_status ppi_session_set_##name(pprof_session *session, type value) { \
    if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;    \
    session->settings.field = value;                                        \
    return PPROF_STATUS_OK;                                                 \
  }
SETTER(ring, uint64_t, ring_bytes)
SETTER(device_mode, ppi_device_mode, device_mode)
SETTER(graph_nodes, bool, graph_nodes)
SETTER(graph_kernels, bool, by_capture)
SETTER(device_calls, bool, all_calls)

pprof_status ppi_session_set_kernels(pprof_session *session,
                                     const ppi_kernel_source *source,
                                     bool are_on) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  session->settings.kernels = source;
  session->settings.kernels_are_on = are_on;
  return PPROF_STATUS_OK;
}

// CUPTI takes seconds to begin in a program that has loaded much.
#define BEGINS_WITHIN_MS 30000u

pprof_status ppi_session_trace_kernels(pprof_session *session, uint64_t ns,
                                       pprof_error *error) {
  ppi_kernels_demand *demand = &session->collect.kernels_demand;
  pprof_status status;
  if (session->phase != PPI_SESSION_RUNNING) return PPROF_STATUS_INVALID;
  if (!session->settings.kernels)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "nothing here can record kernels");
  if (session->settings.kernels_are_on || !ppi_kernels_ask(demand, ns))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "kernels are being recorded already");
  ppi_wakeup_ask(&session->wakeup, BEGINS_WITHIN_MS);
  if (ppi_kernels_take_back(demand))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "the process does not come to begin with kernels");
  return ppi_kernels_is_over(demand, &status, error) ? status : PPROF_STATUS_OK;
}

void ppi_session_end_kernels(pprof_session *session) {
  ppi_kernels_cut(&session->collect.kernels_demand);
  ppi_wakeup_wake(&session->wakeup);
}

bool ppi_session_kernels_traced(const pprof_session *session, pprof_status *out,
                                pprof_error *why) {
  return ppi_kernels_is_over(&session->collect.kernels_demand, out, why);
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
