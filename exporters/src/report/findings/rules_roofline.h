// SPDX-License-Identifier: Apache-2.0
//
// The rule about what a device could do.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_roofline(ppi_search *search);

PPROF_END_C_
