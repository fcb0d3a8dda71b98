// SPDX-License-Identifier: Apache-2.0
//
// Measures one try of `search-batch` from its logs. Main thread only.
#pragma once

#include "batch/batch_run.h"

// ppi_batch_measure reads the logs in `folder` with names that begin with
// `prefix`. One batch is a step, or a range with a name that matches `stages`
// (joined by commas; NULL: steps). With `removes` it deletes the logs.
void ppi_batch_measure(const char *folder, const char *prefix,
                       const char *stages, bool removes, ppi_batch_try *out);

// Samples a second; 0: not known.
double ppi_batch_throughput(const ppi_batch_try *try);
