// SPDX-License-Identifier: Apache-2.0
//
// Cuts the endings that known programs append to names. With them, every call
// would have a name of its own. Used where names are recorded and imported.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_name_end answers how much of a name is kept; 0: all of it.
size_t ppi_name_end(const char *name);

PPROF_END_C_
