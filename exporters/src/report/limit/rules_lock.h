// SPDX-License-Identifier: Apache-2.0
//
// A lock as a server, by recorded waits for it.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

bool ppi_limit_lock(ppi_limit_search *search);
// A sentence beside another verdict.
void ppi_limit_say_lock(ppi_limit_search *search);

PPROF_END_C_
