// SPDX-License-Identifier: Apache-2.0
//
// The rule about what a device could do.
#ifndef PPI_RULES_ROOFLINE_H_
#define PPI_RULES_ROOFLINE_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_roofline(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_ROOFLINE_H_
