// SPDX-License-Identifier: Apache-2.0
//
// Viewers of a run while it runs.
#pragma once

#include "start/running.h"

// A run without viewers still records.
void ppi_running_add_live(ppi_running *run);
// ppi_control_actions.watch and unwatch.
int ppi_running_watch(void *user);
void ppi_running_unwatch(void *user);
// ppi_control_actions.tick.
void ppi_running_write_metrics(void *user);
// After the session's stop: the last update.
void ppi_running_end_metrics(ppi_running *run);
void ppi_running_live_in_forked_child(ppi_running *run);
