// SPDX-License-Identifier: Apache-2.0
//
// Rules about memory.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_memory_grows(ppi_search *search);

PPROF_END_C_
