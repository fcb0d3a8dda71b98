// SPDX-License-Identifier: Apache-2.0
//
// Requests that no range names, where waits are recorded.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

bool ppi_limit_path(ppi_limit_search *search);

PPROF_END_C_
