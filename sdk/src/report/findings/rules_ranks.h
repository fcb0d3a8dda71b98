// SPDX-License-Identifier: Apache-2.0
//
// Rules about ranks that wait for each other.
#ifndef PPI_RULES_RANKS_H_
#define PPI_RULES_RANKS_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_slow_rank(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_RANKS_H_
