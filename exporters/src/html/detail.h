// SPDX-License-Identifier: Apache-2.0
//
// The second reading of a log for its pictures: events, bins, sums over time.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

void ppi_detail_init(ppi_picture *picture);

PPROF_END_C_
