// SPDX-License-Identifier: Apache-2.0
//
// Runtimes whose waits go past the C library.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_waits_unseen says of what is mapped whose waits are not recorded, or are
// other ones than usual; false: nothing.
bool ppi_waits_unseen(char *out, size_t size);

PPROF_END_C_
