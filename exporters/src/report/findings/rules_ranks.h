// SPDX-License-Identifier: Apache-2.0
//
// Rules about ranks that wait for each other.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_slow_rank(ppi_search *search);

PPROF_END_C_
