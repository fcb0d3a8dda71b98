// SPDX-License-Identifier: Apache-2.0
//
// The past of a program as one HTML file that needs nothing else.
#ifndef PPI_COMPARE_HISTORY_PLOT_H_
#define PPI_COMPARE_HISTORY_PLOT_H_

#include "compare/compare_history.h"

void ppi_history_plot(const ppi_history *history, ppi_page *page);

#endif  // PPI_COMPARE_HISTORY_PLOT_H_
