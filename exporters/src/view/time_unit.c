// SPDX-License-Identifier: Apache-2.0
//
// Their names, and times in them.
#include "view/time_unit.h"

const char *ppi_time_unit_name(ppi_time_unit unit) {
  static const char *const names[] = {"ms", "ns", "us", "s"};
  return names[unit];
}

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit) {
  static const double scales[] = {1e6, 1, 1e3, 1e9};
  ppi_page_fixed(page, ns / scales[unit], 2);
}
