// SPDX-License-Identifier: Apache-2.0
//
// The plan between the two readings: the events that the page lists.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

// ppi_plan_make also takes the requests to show in full from `figures`, which
// it borrows. NO_MEMORY.
pprof_status ppi_plan_make(ppi_picture *picture, const ppi_figures *figures);

PPROF_END_C_
