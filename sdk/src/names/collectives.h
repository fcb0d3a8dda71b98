// SPDX-License-Identifier: Apache-2.0
//
// Recognizes kernels and operators that communicate by their names: no marker
// states it. `names.categories` of a configuration adds further ones.
#pragma once

#include "pprof/base.h"

// ppi_is_collective answers for one name, which need not end with a zero.
bool ppi_is_collective(const char *name, size_t len);
