// SPDX-License-Identifier: Apache-2.0
//
// The findings of a report, as lines for people and as JSON.
#pragma once

#include "file/text.h"
#include "report/findings/findings.h"

PPROF_BEGIN_C_

// ppi_findings_put writes the answer and at most five findings, each line of at
// most 100 columns. `options` (or NULL): see ppi_findings_of.
pprof_status ppi_findings_put(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings_options *options);
// ppi_findings_put_json writes all of them, as members of an object.
pprof_status ppi_findings_put_json(ppi_page *page, const ppi_figures *figures,
                                   const ppi_findings_options *options);
// The same for given findings, at most `most` of them.
void ppi_findings_put_members(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings *findings, size_t most);

PPROF_END_C_
