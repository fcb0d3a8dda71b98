// SPDX-License-Identifier: Apache-2.0
//
// Threads that share what is not recorded.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

void ppi_limit_find_congestion(ppi_limit_search *search);
// Rules.
bool ppi_limit_processors(ppi_limit_search *search);
bool ppi_limit_interpreter(ppi_limit_search *search);
bool ppi_limit_takes_turns(ppi_limit_search *search);
bool ppi_limit_congested(ppi_limit_search *search);

PPROF_END_C_
