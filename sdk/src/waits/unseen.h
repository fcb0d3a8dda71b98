// SPDX-License-Identifier: Apache-2.0
//
// Runtimes with waits that go past the C library.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_waits_unseen names what is mapped and has waits that are not recorded, or
// other ones than usual; false: nothing.
bool ppi_waits_unseen(char *out, size_t size);

PPROF_END_C_
