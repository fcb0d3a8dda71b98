// SPDX-License-Identifier: Apache-2.0
//
// Waits that nobody in front of the C library sees.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// ppi_waits_unseen names what is mapped and has waits that are not recorded, or
// other ones than usual; false: nothing. The collector.
bool ppi_waits_unseen(char *out, size_t size);
