// SPDX-License-Identifier: Apache-2.0
//
// The number of processors that this process may use, by its affinity and the
// quota of its cgroup.
#pragma once

#include "pprof/base.h"

// ppi_num_processors answers 1 if it is unknown.
int ppi_num_processors(void);
