// SPDX-License-Identifier: Apache-2.0
//
// The past of a program as one HTML file that needs nothing else.
#pragma once

#include "compare/compare_history.h"

void ppi_history_plot(const ppi_history *history, ppi_page *page);
