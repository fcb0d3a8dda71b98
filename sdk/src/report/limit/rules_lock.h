// SPDX-License-Identifier: Apache-2.0
//
// A lock as a server, by recorded waits for it.
#ifndef PPI_LIMIT_RULES_LOCK_H_
#define PPI_LIMIT_RULES_LOCK_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

bool ppi_limit_lock(ppi_limit_search *search);
// A sentence beside another verdict.
void ppi_limit_say_lock(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_RULES_LOCK_H_
