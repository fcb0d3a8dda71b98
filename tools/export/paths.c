// SPDX-License-Identifier: Apache-2.0
//
// Writes sums by path from a report.
#include "export/paths.h"

#include "report/figures/path_rows.h"

pprof_status ppi_export_paths(pprof_report **out) {
  const ppi_report_details details = {.paths = true, .warmup = -1};
  pprof_status status = pprof_report_create(out);
  if (status == PPROF_STATUS_OK) ppi_report_set_details(*out, &details);
  return status;
}

size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]) {
  size_t num = 0;
  for (; path; path = ppi_path_row_up(figures, path)) out[num++] = path;
  return num;
}
