// SPDX-License-Identifier: Apache-2.0
//
// Rules about stages that meet on a device.
#ifndef PPI_RULES_BESIDE_H_
#define PPI_RULES_BESIDE_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_interference(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_BESIDE_H_
