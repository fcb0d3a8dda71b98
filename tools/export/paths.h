// SPDX-License-Identifier: Apache-2.0
//
// Finds paths of stages for formats of sums, from a report that keeps paths.
#pragma once

#include "export/export.h"
#include "report/report.h"

// ppi_export_paths makes a report with paths, which takes what `export` takes.
pprof_report *ppi_export_paths(ppi_export *export);

// ppi_export_frames lists `path` and the paths around it, innermost first, and
// answers their number.
size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]);
