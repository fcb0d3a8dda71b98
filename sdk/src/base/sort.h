// SPDX-License-Identifier: Apache-2.0
//
// Sorting many items by a number, in time that grows as they do.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_sort does what qsort does; `compare` goes by `key` first, which rises. It
// takes memory for the items once more; where there is none, it is qsort.
void ppi_sort(void *items, size_t num, size_t size,
              uint64_t (*key)(const void *item),
              int (*compare)(const void *left, const void *right));

PPROF_END_C_
