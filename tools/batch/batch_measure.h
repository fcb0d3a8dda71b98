// SPDX-License-Identifier: Apache-2.0
//
// How much one try of `search-batch` got done, from its logs. Main thread only.
#pragma once

#include "batch/batch_run.h"

// ppi_batch_measure reads the logs in `folder` whose names begin with `prefix`.
// One batch is a step, or a range whose name one of `stages` matches (joined by
// commas; NULL: steps). With `removes` the logs go.
void ppi_batch_measure(const char *folder, const char *prefix,
                       const char *stages, bool removes, ppi_batch_try *out);

// Samples a second; 0: not known.
double ppi_batch_throughput(const ppi_batch_try *try);
