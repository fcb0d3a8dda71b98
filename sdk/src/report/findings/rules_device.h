// SPDX-License-Identifier: Apache-2.0
//
// Rules about devices: busy, idle, busy with copies or with too small pieces.
#ifndef PPI_RULES_DEVICE_H_
#define PPI_RULES_DEVICE_H_

#include "report/findings/search.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_rule_device_bound(ppi_search *search);
void ppi_rule_host_bound(ppi_search *search);
void ppi_rule_copies(ppi_search *search);
void ppi_rule_launch_bound(ppi_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RULES_DEVICE_H_
