// SPDX-License-Identifier: Apache-2.0
//
// Between the two readings: what will be told exactly.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

// ppi_plan_make also takes the requests that are told whole from the figures,
// which it borrows. NO_MEMORY.
pprof_status ppi_plan_make(ppi_picture *picture, const ppi_figures *figures);

PPROF_END_C_
