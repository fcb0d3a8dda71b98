// SPDX-License-Identifier: Apache-2.0
//
// Paths of stages, for formats that hold sums: from a report that keeps them.
#ifndef PPI_TOOL_EXPORT_PATHS_H_
#define PPI_TOOL_EXPORT_PATHS_H_

#include "report/report.h"

// ppi_export_paths makes a report with paths. Errors: NO_MEMORY.
pprof_status ppi_export_paths(pprof_report **out);

// One name of a path's key, which is not ended by a zero.
typedef struct ppi_export_frame {
  const char *rest;  // what follows; the key at first
  const char *name, *category;
  size_t len, category_len;
} ppi_export_frame;
// ppi_export_next_frame answers false behind the last one.
bool ppi_export_next_frame(ppi_export_frame *frame);

#endif  // PPI_TOOL_EXPORT_PATHS_H_
