// SPDX-License-Identifier: Apache-2.0
//
// Requests that stand in line though nothing is saturated.
#ifndef PPI_LIMIT_RULES_LINE_H_
#define PPI_LIMIT_RULES_LINE_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rules.
bool ppi_limit_in_line(ppi_limit_search *search);
bool ppi_limit_slower(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_RULES_LINE_H_
