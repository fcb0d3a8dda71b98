// SPDX-License-Identifier: Apache-2.0
//
// Rules about stages that meet on a device.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_interference(ppi_search *search);

PPROF_END_C_
