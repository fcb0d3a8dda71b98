// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cupti_abi.h"
#include "kernels/source.h"

PPROF_BEGIN_C_

// ppi_cupti_read answers false for a record that is uninteresting or
// unreadable. Pointers in *out are valid until the next record is read.
bool ppi_cupti_read(const void *record, ppi_device_work *out);

PPROF_END_C_
