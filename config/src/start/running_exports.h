// SPDX-License-Identifier: Apache-2.0
//
// The exports of a run.
#pragma once

#include "start/running.h"

// Prepares the exports in the session, writes those of the run after its stop,
// and gives up those that were not written.
pprof_status ppi_running_add_exports(ppi_running *run, pprof_error *error);
pprof_status ppi_running_write_exports(ppi_running *run, pprof_status first,
                                       pprof_error *error);
void ppi_running_drop_exports(ppi_running *run);
// Puts into `error` the first trace that could not be written, if any.
void ppi_running_notify_trace(const ppi_running *run, pprof_error *error);
