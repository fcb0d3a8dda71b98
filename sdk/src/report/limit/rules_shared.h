// SPDX-License-Identifier: Apache-2.0
//
// Threads that share what is not recorded.
#ifndef PPI_LIMIT_RULES_SHARED_H_
#define PPI_LIMIT_RULES_SHARED_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_limit_find_congestion(ppi_limit_search *search);
// Rules.
bool ppi_limit_processors(ppi_limit_search *search);
bool ppi_limit_interpreter(ppi_limit_search *search);
bool ppi_limit_takes_turns(ppi_limit_search *search);
bool ppi_limit_congested(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_RULES_SHARED_H_
