// SPDX-License-Identifier: Apache-2.0
//
// On how many processors this process may run.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_num_processors answers 1 where nobody knows.
int ppi_num_processors(void);

PPROF_END_C_
