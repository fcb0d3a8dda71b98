// SPDX-License-Identifier: Apache-2.0
//
// Writes sums by path from a report.
#include "export/paths.h"

#include "cli/say.h"
#include "report/figures/path_rows.h"

pprof_report *ppi_export_paths(ppi_export *export) {
  const ppi_report_details details = {.paths = true, .warmup = -1};
  pprof_report *made;
  if (pprof_report_create(&made) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  ppi_report_set_details(made, &details);
  export->also = pprof_report_sink(made);
  return made;
}

size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]) {
  size_t num = 0;
  for (; path; path = ppi_path_row_up(figures, path)) out[num++] = path;
  return num;
}
