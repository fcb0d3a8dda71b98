// SPDX-License-Identifier: Apache-2.0
//
// Runs in which nothing is saturated.
#ifndef PPI_LIMIT_RULES_LATENCY_H_
#define PPI_LIMIT_RULES_LATENCY_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// How requests come: after others have ended, how many at a time.
void ppi_limit_find_arrivals(ppi_limit_search *search);
// Rules.
bool ppi_limit_too_few(ppi_limit_search *search);
bool ppi_limit_replica(ppi_limit_search *search);
bool ppi_limit_idle(ppi_limit_search *search);
bool ppi_limit_keeps_up(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_RULES_LATENCY_H_
