// SPDX-License-Identifier: Apache-2.0
//
// Rows as servers.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// False: out of memory.
bool ppi_model_find_stations(ppi_limit_model *model);

PPROF_END_C_
