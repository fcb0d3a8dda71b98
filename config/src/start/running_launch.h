// SPDX-License-Identifier: Apache-2.0
//
// One run from its configuration to its end. Called under the lock of
// compose.c.
#pragma once

#include "start/running.h"

// ppi_running_prepare fills in config and paths; no file is made.
pprof_status ppi_running_prepare(ppi_running *run, const char *config_path,
                                 pprof_error *error);
// ppi_running_prepare_child does the same in a forked child that goes on as
// `parents` did: in the folder of that start, with its own process id in the
// files' names.
pprof_status ppi_running_prepare_child(ppi_running *run,
                                       const ppi_running *parents,
                                       pprof_error *error);
// ppi_running_launch starts the session. After a failure, destroy the run.
pprof_status ppi_running_launch(ppi_running *run, pprof_error *error);
// ppi_running_finish stops the session, writes the exports and destroys `run`.
pprof_status ppi_running_finish(ppi_running *run, pprof_error *error);
void ppi_running_destroy(ppi_running *run);
// In a forked child: closes the child's copies of the parent's files.
void ppi_running_in_forked_child(ppi_running *run);
// Whether both runs were requested with the same settings.
bool ppi_running_is_same(const ppi_running *a, const ppi_running *b);
