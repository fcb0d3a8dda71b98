// SPDX-License-Identifier: Apache-2.0
//
// What a finding is called from run to run: its rule, and the stages and
// devices that it is about.
#pragma once

#include "file/text.h"
#include "report/findings/findings.h"

PPROF_BEGIN_C_

// ppi_finding_key writes "interference/head/classify": the names that the
// finding's sentence has, in its order, each once. Figures are not in it.
void ppi_finding_key(ppi_page *page, const ppi_figures *figures,
                     const ppi_finding *finding);

PPROF_END_C_
