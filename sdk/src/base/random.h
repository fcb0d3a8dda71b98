// SPDX-License-Identifier: Apache-2.0
//
// Numbers that no other process has.
#pragma once

#include "pprof/base.h"

// ppi_random64 answers a random number from the kernel. Until the kernel is
// ready, it is made of clock and process: probably unique, but easy to guess.
uint64_t ppi_random64(void);
