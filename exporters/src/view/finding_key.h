// SPDX-License-Identifier: Apache-2.0
//
// What a finding is called from run to run: its rule, and the stages and
// devices that it is about.
#ifndef PPI_FINDING_KEY_H_
#define PPI_FINDING_KEY_H_

#include "file/text.h"
#include "report/findings/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_finding_key writes "interference/head/classify": the names that the
// finding's sentence has, in its order, each once. Figures are not in it.
void ppi_finding_key(ppi_page *page, const ppi_figures *figures,
                     const ppi_finding *finding);

#ifdef __cplusplus
}
#endif

#endif  // PPI_FINDING_KEY_H_
