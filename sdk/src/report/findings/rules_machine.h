// SPDX-License-Identifier: Apache-2.0
//
// What the machine did beside the program. One row for each cause.
#ifndef PPI_RULES_MACHINE_H_
#define PPI_RULES_MACHINE_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_machine(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_MACHINE_H_
