// SPDX-License-Identifier: Apache-2.0
//
// What a search found: as a table, in words, as a curve. Main thread only.
#ifndef PPI_BATCH_PRINT_H_
#define PPI_BATCH_PRINT_H_

#include "batch/batch_result.h"

// Prints as --format says; answers `code` or what printing ended with.
int ppi_batch_print(const ppi_batch_result *result, int code);

#endif  // PPI_BATCH_PRINT_H_
