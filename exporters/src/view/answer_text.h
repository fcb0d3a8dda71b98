// SPDX-License-Identifier: Apache-2.0
//
// The columns of the answer, and the answer and the findings as text and JSON.
#pragma once

#include "report/findings/findings.h"
#include "view/view.h"

// clang-format off
#define PPI_ANSWER_COLUMNS(each) \
  each(name, NULL, NULL, 0, 2) \
  each(inside, NULL, NULL, 0, 0) \
  each(where, NULL, NULL, 0, 3) \
  each(time_avg, "ns", NULL, 0, 4) \
  each(share, "%", NULL, 0, 5) \
  each(p50, "ns", NULL, 0, 10) \
  each(p99, "ns", NULL, 0, 11) \
  each(max, "ns", NULL, 0, 13) \
  each(calls_avg, NULL, NULL, 0, 12) \
  each(total, "ns", NULL, 0, 0) \
  each(calls, NULL, NULL, 0, 0) \
  each(rank_min, "ns", NULL, 0, 6) \
  each(rank_median, "ns", NULL, 0, 7) \
  each(rank_max, "ns", NULL, 0, 8) \
  each(longest_rank, NULL, NULL, 0, 9) \
  each(of, NULL, NULL, 0, 1)
// clang-format on

// ppi_answer_total is the row of the total of the answer that begins at `from`.
size_t ppi_answer_total(const ppi_view *view, size_t from);
// ppi_answer_put_text is the `put_text` of the view.
void ppi_answer_put_text(ppi_page *page, const ppi_view *view,
                         const ppi_report_options *options);

// ppi_answer_put_note writes the answer, the line of the run, and at most five
// findings, as wide as the page.
pprof_status ppi_answer_put_note(ppi_page *page, const ppi_figures *figures,
                                 ppi_base_kind base,
                                 const ppi_report_options *options);
// ppi_findings_put_json writes all of them, as members of an object.
pprof_status ppi_findings_put_json(ppi_page *page, const ppi_figures *figures,
                                   const ppi_findings_options *options);
// The same for given findings, at most `most` of them.
void ppi_findings_put_members(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings *findings, size_t most);
