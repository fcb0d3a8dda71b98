// SPDX-License-Identifier: Apache-2.0
//
// Events, checkpoints and requests of a run as the answer's ranges and units.
// With details.answer or details.requests; sink thread only.
#pragma once

#include "report/parts/merge.h"
#include "report/run/run.h"

// ppi_run_answer_take takes any event that no lane keeps for the answer.
bool ppi_run_answer_take(ppi_run *run, const pprof_event *event);
// The work between begin and end, perhaps a job. Meanwhile, only the sweep of
// the same horizon may run.
typedef struct ppi_answer_settling {
  ppi_job job;
  ppi_run *run;
  ppi_accounts_horizon horizon;
  ppi_account_names names;
  ppi_item *open;
  ppi_step_account *steps;
  bool is_job;
  bool done;
} ppi_answer_settling;

// ppi_run_answer_begin comes before the sweep of the same horizon. Always call
// ppi_run_answer_end then, before ppi_run_pass_swept.
void ppi_run_answer_begin(ppi_answer_settling *self, ppi_run *run,
                          uint64_t horizon_ns, const ppi_run_open *open,
                          size_t num_open);
bool ppi_run_answer_end(ppi_answer_settling *self);
// ppi_run_answer_by_request: the answer's units are requests, so that steps and
// windows need no account any more. Once a checkpoint.
bool ppi_run_answer_by_request(ppi_run *run);
// ppi_run_answer_fill also fills the requests, when windows have ends.
bool ppi_run_answer_fill(ppi_run *run, ppi_figures *out);
