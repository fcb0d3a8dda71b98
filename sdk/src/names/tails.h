// SPDX-License-Identifier: Apache-2.0
//
// What known programs append to names, which would make every call a name of
// its own: cut where names are recorded and where they are imported.
#pragma once

#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_name_end answers how much of a name is kept; 0: all of it.
size_t ppi_name_end(const char *name);

PPROF_END_C_
