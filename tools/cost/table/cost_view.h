// SPDX-License-Identifier: Apache-2.0
//
// Makes a view of groups of nodes, as data or as a table for people.
#pragma once

#include "cost/table/groups.h"
#include "print/report_print.h"

PPROF_BEGIN_C_

// ppi_cost_view makes it, `top` groups at most (0 or less: all), its note with
// the totals and the unknown costs. ppi_view_clear is needed either way. False:
// out of memory.
bool ppi_cost_view(const ppi_cost *cost, const ppi_cost_groups *groups,
                   ppi_cost_by by, ppi_report_format format, long top,
                   ppi_view *out);
// Puts members of a JSON object: "totals":{...}, and the names of partial
// totals.
void ppi_cost_totals(ppi_page *page, const ppi_cost_groups *groups);

PPROF_END_C_
