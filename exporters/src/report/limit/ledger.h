// SPDX-License-Identifier: Apache-2.0
//
// Why a device was idle: each moment belongs to what the thread did that
// launched the device's next work.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// ppi_limit_find_gaps fills the gaps of the verdict, of the device that is busy
// most; ppi_limit_say_gaps adds a sentence where they are a tenth of the time.
void ppi_limit_find_gaps(ppi_limit_search *search);
void ppi_limit_say_gaps(ppi_limit_search *search);

PPROF_END_C_
