// SPDX-License-Identifier: Apache-2.0
//
// Numbers that no other process has.
#pragma once

#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_random64 gives the kernel's randomness, or, where that is not ready, one
// of clock and process: unlikely to meet another, easy to guess.
uint64_t ppi_random64(void);

PPROF_END_C_
