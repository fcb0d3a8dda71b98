// SPDX-License-Identifier: Apache-2.0
//
// The units in which tables and Markdown show times.
#ifndef PPI_TIME_UNIT_H_
#define PPI_TIME_UNIT_H_

#include "file/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_time_unit {
  PPI_TIME_MS = 0,
  PPI_TIME_NS,
  PPI_TIME_US,
  PPI_TIME_S
} ppi_time_unit;

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit);
const char *ppi_time_unit_name(ppi_time_unit unit);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TIME_UNIT_H_
