// SPDX-License-Identifier: Apache-2.0
//
// The key of a finding from run to run: its rule, its stages and its devices.
#pragma once

#include "file/text.h"
#include "report/findings/findings.h"

PPROF_BEGIN_C_

// ppi_finding_key writes "interference/head/classify": the rule, and each name
// of the finding's sentence once, in order, without figures.
void ppi_finding_key(ppi_page *page, const ppi_figures *figures,
                     const ppi_finding *finding);

PPROF_END_C_
