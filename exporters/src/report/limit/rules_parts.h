// SPDX-License-Identifier: Apache-2.0
//
// The parts of a round of the thread that goes round.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// Rule.
bool ppi_limit_parts(ppi_limit_search *search);

PPROF_END_C_
