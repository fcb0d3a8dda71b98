// SPDX-License-Identifier: Apache-2.0
//
// Rules about the parts of a unit's time.
#ifndef PPI_RULES_PARTS_H_
#define PPI_RULES_PARTS_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_dominates(ppi_search *search);
void ppi_rule_queueing(ppi_search *search);
void ppi_rule_waiting(ppi_search *search);
void ppi_rule_input_bound(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_PARTS_H_
