// SPDX-License-Identifier: Apache-2.0
//
// What a search found: as a table, in words, as a curve. Main thread only.
#pragma once

#include "batch/batch_result.h"

// Prints as --format says; answers `code` or what printing ended with.
int ppi_batch_print(const ppi_batch_result *result, int code);
