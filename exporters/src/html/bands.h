// SPDX-License-Identifier: Apache-2.0
//
// The times in which the machine slowed the program.
#pragma once

#include "html/picture_state.h"
#include "print/report_print.h"

// ppi_bands_take adds the stretches of the run that was read. It keeps the
// longest of all runs and counts the rest. NO_MEMORY.
pprof_status ppi_bands_take(ppi_picture *picture);
// Each further level has half as many stretches. `figures` have the sums.
void ppi_bands_put(ppi_page *page, const ppi_picture *picture,
                   const ppi_figures *figures, unsigned level);
