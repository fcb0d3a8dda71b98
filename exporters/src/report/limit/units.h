// SPDX-License-Identifier: Apache-2.0
//
// What a run is made of: requests, steps, or iterations that are found.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// False: out of memory.
bool ppi_model_find_units(ppi_limit_model *model, const ppi_limit_calls *calls);

PPROF_END_C_
