// SPDX-License-Identifier: Apache-2.0
//
// Paths of stages, for formats that hold sums: from a report that keeps them.
#pragma once

#include "report/report.h"

// ppi_export_paths makes a report with paths. Errors: NO_MEMORY.
pprof_status ppi_export_paths(pprof_report **out);

// ppi_export_frames lists the paths around `path` and itself, the innermost
// first, and answers how many there are.
size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]);
