// SPDX-License-Identifier: Apache-2.0
//
// Moments in which everything stands still, though there is work.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// ppi_limit_find_pauses comes before stations: pauses are no part of any time.
void ppi_limit_find_pauses(ppi_limit_search *search);
// Rules: pauses cost more than the limit would bring; or, with nothing
// saturated, make much of the latency.
bool ppi_limit_long_pauses(ppi_limit_search *search);
bool ppi_limit_pauses(ppi_limit_search *search);

PPROF_END_C_
