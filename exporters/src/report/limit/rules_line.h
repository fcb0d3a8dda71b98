// SPDX-License-Identifier: Apache-2.0
//
// Requests that stand in line though nothing is saturated.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// Rules.
bool ppi_limit_in_line(ppi_limit_search *search);
bool ppi_limit_slower(ppi_limit_search *search);

PPROF_END_C_
