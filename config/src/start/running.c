// SPDX-License-Identifier: Apache-2.0
//
// Implements the shared functions of a run's parts.
#include "start/running.h"

#include "base/mem.h"
#include "base/start_thread.h"

const ppi_config *ppi_running_config(const ppi_running *run) {
  return run->latest ? run->latest : &run->config;
}

pprof_status ppi_running_plain_failure(pprof_error *error, pprof_status status,
                                       const char *what) {
  if (status == PPROF_STATUS_OK) return status;
  char why[160];
  if (status == PPROF_STATUS_NO_MEMORY)
    return ppi_fail(error, status, "%s",
                    ppi_describe_no_memory(why, sizeof why));
  return ppi_fail(error, status, "%s: %s", what, pprof_status_string(status));
}

pprof_status ppi_running_set_capture(ppi_running *run,
                                     const ppi_config *config) {
  ppi_capture *capture = ppi_alloc(sizeof *capture);
  if (!capture) return PPROF_STATUS_NO_MEMORY;
  ppi_config_capture(config, capture);
  pprof_status status =
      ppi_running_calls->session_set_capture(run->session, capture);
  ppi_free(capture);
  return status;
}

pprof_status ppi_running_set_choice(ppi_running *run,
                                    const ppi_config *config) {
  ppi_config_chosen chosen;
  ppi_config_choice(config, &chosen);
  return ppi_running_calls->session_set_choice(run->session, &chosen.choice);
}

pprof_status ppi_running_take_sink(ppi_running *run, pprof_sink *sink,
                                   pprof_error *error) {
  pprof_status status = ppi_running_calls->session_add_sink(run->session, sink);
  if (status != PPROF_STATUS_OK && sink->destroy) sink->destroy(sink);
  return ppi_running_plain_failure(error, status, "cannot add an output");
}
