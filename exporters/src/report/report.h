// SPDX-License-Identifier: Apache-2.0
//
// What views may ask a report: its figures, once it has finished. Views read
// them; nothing writes them but finish and merge.
#pragma once

#include "pprof/report.h"
#include "report/figures/figures.h"
#include "report/spans/identity.h"

PPROF_BEGIN_C_

// ppi_report_figures answers NULL before finish.
const ppi_figures *ppi_report_figures(const pprof_report *report);
// ppi_report_add is pprof_report_merge without the copy of `into`, which is
// good for nothing after a failure.
pprof_status ppi_report_add(pprof_report *into, const pprof_report *from);
// ppi_report_join makes requests whole that several of its runs work on, once
// all are added.
pprof_status ppi_report_join(pprof_report *report);
// ppi_report_set_details is called before the first run, if at all; reports
// that differ in it cannot be merged (INVALID).
void ppi_report_set_details(pprof_report *report,
                            const ppi_report_details *details);
bool ppi_report_identity_ok(const pprof_report *report);
uint64_t ppi_report_total(const pprof_report *report, ppi_total_key key);

PPROF_END_C_
