// SPDX-License-Identifier: Apache-2.0
//
// When the machine was in the program's way.
#pragma once

#include "html/picture_state.h"
#include "print/report_print.h"

PPROF_BEGIN_C_

// ppi_bands_take adds the stretches of the run that was read, the longest of
// all as far as there is room, and counts the rest. NO_MEMORY.
pprof_status ppi_bands_take(ppi_picture *picture);
// Of higher levels half as many. `figures` have the sums.
void ppi_bands_put(ppi_page *page, const ppi_picture *picture,
                   const ppi_figures *figures, unsigned level);

PPROF_END_C_
