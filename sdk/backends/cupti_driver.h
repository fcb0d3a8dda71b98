// SPDX-License-Identifier: Apache-2.0
//
// CUDA's driver, if the program has loaded it.
#pragma once

#include "kernels/source.h"

enum { PPI_CUPTI_DRIVER_UNUSED = 3, PPI_CUPTI_DRIVER_ENDED = 4 };

// What it answers to a question for the number of devices; 0: it is in use.
int ppi_cupti_driver_answer(void);
// Whether a runtime uses it: that has primary contexts. At the end of the
// process, the driver may have ended and answers so.
bool ppi_cupti_driver_is_used(void);
ppi_device_limits ppi_cupti_driver_limits(int device);
