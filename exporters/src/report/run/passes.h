// SPDX-License-Identifier: Apache-2.0
//
// What a run does with events, at a horizon, and at its end.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

// ---- events: each one adds to sums or waits for a horizon ----

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);

// ppi_run_open_step adds a step that a checkpoint lists as open.
bool ppi_run_open_step(ppi_run *run, const pprof_event *event);
// ppi_plain_events_take takes plain events from `at` on up to the first other
// event, and moves `at` there. They are host ranges of the batch's lane with
// times alone, of sites without special traits: most events of most runs.
bool ppi_plain_events_take(ppi_run *run, const pprof_batch *batch,
                           ppi_run_lane *lane, size_t *at);

// ---- horizons ----

pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint);

// ppi_run_settle_ranges settles host ranges before `horizon_ns` as
// ppi_run_sweep does, and with `answers` the answer, too.
bool ppi_run_settle_ranges(ppi_run *run, uint64_t horizon_ns,
                           ppi_run_open *open, size_t num_open, bool answers);

// ppi_run_settle_devices settles the devices and the steps' time before
// `horizon_ns`, together, as ppi_identity_settle does.
bool ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns);

// ppi_run_sweep settles ranges before `horizon_ns`. All ranges that end by it
// have come, and all device work submitted before it. Other ranges that begin
// before it have come or are in `open`. The order of `open` changes.
bool ppi_run_sweep(ppi_run *run, uint64_t horizon_ns, ppi_run_open *open,
                   size_t num_open);
// ppi_run_pass_swept comes after ppi_run_sweep, when nothing else reads the
// lanes. It forgets settled ranges, or hands them over to the answer.
bool ppi_run_pass_swept(ppi_run *run);

// ppi_run_finish settles all that is buffered; ids become names.
bool ppi_run_finish(ppi_run *run, const pprof_totals *totals, ppi_figures *out);

PPROF_END_C_
