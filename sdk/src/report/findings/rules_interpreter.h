// SPDX-License-Identifier: Apache-2.0
//
// What a program's interpreter took from its requests and steps.
#ifndef PPI_RULES_INTERPRETER_H_
#define PPI_RULES_INTERPRETER_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_collections(ppi_search *search);
void ppi_rule_held_loop(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_INTERPRETER_H_
