// SPDX-License-Identifier: Apache-2.0
//
// The views over a fleet, as SQL that DuckDB and Spark take alike. They are in
// views/, one file each.
#ifndef PPI_TOOL_FLEET_VIEWS_H_
#define PPI_TOOL_FLEET_VIEWS_H_

typedef struct ppi_fleet_view {
  const char *name;  // NULL: behind the last one
  const char *text;  // a SELECT over tables and the views before it
} ppi_fleet_view;

extern const ppi_fleet_view ppi_fleet_views[];

#endif  // PPI_TOOL_FLEET_VIEWS_H_
