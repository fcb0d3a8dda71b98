// SPDX-License-Identifier: Apache-2.0
//
// Rules about the calls of a stage: unsteady ones, first ones, and what their
// thread does.
#ifndef PPI_RULES_CALLS_H_
#define PPI_RULES_CALLS_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_uneven(ppi_search *search);
void ppi_rule_first_call(ppi_search *search);
void ppi_rule_computes(ppi_search *search);
void ppi_rule_blocks(ppi_search *search);
void ppi_rule_processor_wait(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_CALLS_H_
