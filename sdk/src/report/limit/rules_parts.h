// SPDX-License-Identifier: Apache-2.0
//
// The parts of a round of the thread that goes round.
#ifndef PPI_LIMIT_RULES_PARTS_H_
#define PPI_LIMIT_RULES_PARTS_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rule.
bool ppi_limit_parts(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_RULES_PARTS_H_
