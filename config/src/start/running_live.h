// SPDX-License-Identifier: Apache-2.0
//
// Those who look at a run while it runs.
#pragma once

#include "start/running.h"

PPROF_BEGIN_C_

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

PPROF_END_C_
