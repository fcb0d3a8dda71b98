// SPDX-License-Identifier: Apache-2.0
//
// The units in which tables and Markdown show times.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

typedef enum ppi_time_unit {
  PPI_TIME_MS = 0,
  PPI_TIME_NS,
  PPI_TIME_US,
  PPI_TIME_S
} ppi_time_unit;

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit);
const char *ppi_time_unit_name(ppi_time_unit unit);
double ppi_time_unit_ns(ppi_time_unit unit);
// ppi_time_unit_of is the largest one in which `ns` is 1 or more.
ppi_time_unit ppi_time_unit_of(double ns);
// ppi_page_three writes a value with three significant digits; 0 is "0".
void ppi_page_three(ppi_page *page, double value);
// ppi_page_rate writes a small one with three digits, too: 0.0000926.
void ppi_page_rate(ppi_page *page, double value);
void ppi_page_three_time(ppi_page *page, double ns, ppi_time_unit unit);
// The same with the unit that fits: "1.52 s".
void ppi_page_fitting_time(ppi_page *page, double ns);

PPROF_END_C_
