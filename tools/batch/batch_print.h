// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of a search: as a table, in words, as a curve. Main thread
// only.
#pragma once

#include "batch/batch_result.h"

// Prints in --format; answers `code`, or the exit code of a failed print.
int ppi_batch_print(const ppi_batch_result *result, int code);
