// SPDX-License-Identifier: Apache-2.0
//
// Names the units of time, and writes times in them.
#include "view/time_unit.h"

const char *ppi_time_unit_name(ppi_time_unit unit) {
  static const char *const names[] = {"ms", "ns", "us", "s"};
  return names[unit];
}

static const double scales[] = {[PPI_TIME_MS] = 1e6,
                                [PPI_TIME_NS] = 1,
                                [PPI_TIME_US] = 1e3,
                                [PPI_TIME_S] = 1e9};

double ppi_time_unit_ns(ppi_time_unit unit) {
  return scales[unit];
}

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit) {
  ppi_page_fixed(page, ns / scales[unit], 2);
}

ppi_time_unit ppi_time_unit_of(double ns) {
  if (ns >= 1e9) return PPI_TIME_S;
  if (ns >= 1e6) return PPI_TIME_MS;
  return ns >= 1e3 ? PPI_TIME_US : PPI_TIME_NS;
}

void ppi_page_three(ppi_page *page, double value) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value > 0 ? 2 : 0;
  ppi_page_fixed(page, value, decimals);
}

void ppi_page_rate(ppi_page *page, double value) {
  if (value < 0.0995)
    ppi_page_fixed(page, value, value > 0 ? ppi_page_decimals(value, 2) : 0);
  else
    ppi_page_three(page, value);
}

void ppi_page_three_time(ppi_page *page, double ns, ppi_time_unit unit) {
  ppi_page_three(page, ns / scales[unit]);
}

void ppi_page_fitting_time(ppi_page *page, double ns) {
  ppi_time_unit unit = ppi_time_unit_of(ns);
  ppi_page_three_time(page, ns, unit);
  ppi_page_format(page, " %s", ppi_time_unit_name(unit));
}
