// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's activity records as a source of kernels.
#pragma once

#include "kernels/source.h"

PPROF_BEGIN_C_

// ppi_cupti_source is the one of this process.
const ppi_kernel_source *ppi_cupti_source(void);

PPROF_END_C_
