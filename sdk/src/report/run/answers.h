// SPDX-License-Identifier: Apache-2.0
//
// Events, checkpoints and requests of a run as the answer's ranges and units.
// With details.answer; sink thread only.
#ifndef PPI_REPORT_ANSWERS_H_
#define PPI_REPORT_ANSWERS_H_

#include "report/parts/merge.h"
#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_run_answer_take takes any event that no lane holds for the answer.
pprof_status ppi_run_answer_take(ppi_run *run, const pprof_event *event);
// ppi_run_answer_settle comes before the sweep of the same horizon, which hands
// over what it has passed.
pprof_status ppi_run_answer_settle(ppi_run *run, uint64_t horizon_ns,
                                   const ppi_run_open *open, size_t num_open);
// ppi_run_answer_fill comes after ppi_requests_fill, when windows have ends.
pprof_status ppi_run_answer_fill(ppi_run *run, ppi_figures *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_ANSWERS_H_
