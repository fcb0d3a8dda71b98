// SPDX-License-Identifier: Apache-2.0
//
// Formats costs: numbers with their units, and the reasons of unknown costs.
#pragma once

#include "cost/table/groups.h"
#include "file/text.h"

PPROF_BEGIN_C_

// "25.6 M"; with `unit` "102 MB". ">=" stands before a partial sum.
void ppi_cost_number(ppi_page *page, double value, const char *unit,
                     bool at_least);
// Puts a line for each reason with its number of nodes, the most frequent
// first.
void ppi_cost_reasons(ppi_page *page, const ppi_cost *cost);

PPROF_END_C_
