// SPDX-License-Identifier: Apache-2.0
//
// Those who look at a run while it runs.
#ifndef PPI_RUNNING_LIVE_H_
#define PPI_RUNNING_LIVE_H_

#include "start/running.h"

#ifdef __cplusplus
extern "C" {
#endif

// A run that nobody can look at still records.
void ppi_running_add_live(ppi_running *run);
// ppi_control_actions.watch and unwatch.
int ppi_running_watch(void *user);
void ppi_running_unwatch(void *user);
// ppi_control_actions.tick.
void ppi_running_write_metrics(void *user);
// Behind the session's stop: for the last time.
void ppi_running_end_metrics(ppi_running *run);
void ppi_running_live_in_forked_child(ppi_running *run);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUNNING_LIVE_H_
