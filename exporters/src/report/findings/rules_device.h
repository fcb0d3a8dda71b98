// SPDX-License-Identifier: Apache-2.0
//
// Rules about devices: busy, idle, busy with copies or with too small pieces.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_device_bound(ppi_search *search);
void ppi_rule_host_bound(ppi_search *search);
void ppi_rule_copies(ppi_search *search);
void ppi_rule_launch_bound(ppi_search *search);

PPROF_END_C_
