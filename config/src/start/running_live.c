// SPDX-License-Identifier: Apache-2.0
//
// The sink that counts while somebody looks, and who may ask for it.
#include "start/running_live.h"

static bool stats_of(void *user, pprof_stats *out) {
  const ppi_running *run = user;
  return pprof_session_stats(run->session, out) == PPROF_STATUS_OK;
}

void ppi_running_add_live(ppi_running *run) {
  const ppi_live_options options = {.stats = stats_of, .user = run};
  ppi_live *live = NULL;
  if (!run->config.control.socket ||
      ppi_running_calls->live_create(&options, &live) != PPROF_STATUS_OK ||
      !live)
    return;
  pprof_sink *sink = ppi_live_sink(live);
  if (ppi_running_calls->session_add_sink(run->session, sink) ==
      PPROF_STATUS_OK)
    run->live = live;
  else
    sink->destroy(sink);
}

int ppi_running_watch(void *user) {
  const ppi_running *run = user;
  return run->live ? ppi_live_watch(run->live) : -1;
}

void ppi_running_unwatch(void *user) {
  const ppi_running *run = user;
  if (run->live) ppi_live_leave(run->live);
}
