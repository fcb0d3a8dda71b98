// SPDX-License-Identifier: Apache-2.0
//
// The figures of a finished report, for views. Views only read them; finish,
// add, join and merge write them.
#pragma once

#include "pprof/report.h"
#include "report/figures/figures.h"
#include "report/spans/identity.h"

PPROF_BEGIN_C_

// ppi_report_figures answers NULL before finish.
const ppi_figures *ppi_report_figures(const pprof_report *report);
// ppi_report_add is pprof_report_merge without a copy of `into`: after a
// failure `into` is unusable.
pprof_status ppi_report_add(pprof_report *into, const pprof_report *from);
// ppi_report_join joins requests that several runs work on. It is called after
// all runs are added.
pprof_status ppi_report_join(pprof_report *report);
// ppi_report_set_details is called before the first run, if at all. Reports
// with different details cannot be merged (INVALID).
void ppi_report_set_details(pprof_report *report,
                            const ppi_report_details *details);
// ppi_report_carry carries a finished report's figures, before they are joined.
// A read gives them to a new report with the same details.
void ppi_report_carry(ppi_carry *carry, pprof_report *report);
// ppi_report_depends_on_jobs: a run has more paths than a report keeps, and its
// jobs chose others than one thread would. Read the run again without jobs.
bool ppi_report_depends_on_jobs(const pprof_report *report);
bool ppi_report_identity_ok(const pprof_report *report);
uint64_t ppi_report_total(const pprof_report *report, ppi_total_key key);

PPROF_END_C_
