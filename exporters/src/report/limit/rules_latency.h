// SPDX-License-Identifier: Apache-2.0
//
// Runs in which nothing is saturated.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// How requests come: after others have ended, how many at a time.
void ppi_limit_find_arrivals(ppi_limit_search *search);
// Rules.
bool ppi_limit_too_few(ppi_limit_search *search);
bool ppi_limit_replica(ppi_limit_search *search);
bool ppi_limit_idle(ppi_limit_search *search);
bool ppi_limit_keeps_up(ppi_limit_search *search);

PPROF_END_C_
