// SPDX-License-Identifier: Apache-2.0
//
// Rules about requests one by one.
#ifndef PPI_RULES_REQUESTS_H_
#define PPI_RULES_REQUESTS_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_tail(ppi_search *search);
void ppi_rule_few_requests(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_REQUESTS_H_
