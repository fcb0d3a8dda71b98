// SPDX-License-Identifier: Apache-2.0
//
// Rules about memory.
#ifndef PPI_RULES_MEMORY_H_
#define PPI_RULES_MEMORY_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_memory_grows(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_MEMORY_H_
