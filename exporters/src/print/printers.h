// SPDX-License-Identifier: Apache-2.0
//
// The forms in which views are printed; each appends to `page`.
#pragma once

#include "report/findings/findings.h"
#include "view/view.h"

void ppi_table_put(ppi_page *page, const ppi_view *view,
                   const ppi_report_options *options);
void ppi_markdown_put(ppi_page *page, const ppi_view *view, ppi_time_unit unit);
void ppi_csv_put(ppi_page *page, const ppi_view *view, bool with_name);
// Members of an object: columns, a line end, rows.
void ppi_json_put_view(ppi_page *page, const ppi_view *view);
// `found`: how findings are searched; NULL: not at all.
void ppi_json_put(ppi_page *page, const ppi_figures *figures,
                  const ppi_view *views, size_t num_views,
                  const ppi_report_options *found);

// Writes at most 8000 bytes. `view` has the answer (NULL: there is none). The
// rest is counted as left out. Errors: NO_MEMORY.
pprof_status ppi_json_put_compact(ppi_page *page, const ppi_figures *figures,
                                  const ppi_view *view,
                                  const ppi_findings_options *options);
