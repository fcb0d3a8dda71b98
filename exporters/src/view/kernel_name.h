// SPDX-License-Identifier: Apache-2.0
//
// The names of kernels, which C++ makes long.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_kernel_name_short appends what tells kernels apart in few words: the
// name without what it returns, its namespaces and parameters, and in <> the
// innermost of its template's first arguments that is a name itself.
void ppi_kernel_name_short(ppi_page *page, const char *name);

PPROF_END_C_
