// SPDX-License-Identifier: Apache-2.0
//
// The names of kernels, which C++ makes long.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_kernel_name_short appends a short name that identifies the kernel:
// without result type, namespaces and parameters. In <> it has the innermost of
// the template's first arguments that is a name itself.
void ppi_kernel_name_short(ppi_page *page, const char *name);

PPROF_END_C_
