// SPDX-License-Identifier: Apache-2.0
//
// The columns of the answer, and the answer and the findings as text and JSON.
#pragma once

#include "file/text.h"
#include "report/findings/findings.h"
#include "view/view.h"

PPROF_BEGIN_C_

// clang-format off
#define PPI_ANSWER_COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(INSIDE, "inside", NULL) \
  each(WHERE, "where", NULL) \
  each(TIME, "time_avg", "ns") \
  each(SHARE, "share", "%") \
  each(P50, "p50", "ns") \
  each(P99, "p99", "ns") \
  each(MOST, "max", "ns") \
  each(CALLS, "calls_avg", NULL) \
  each(TOTAL, "total", "ns") \
  each(ALL_CALLS, "calls", NULL) \
  each(RANK_LEAST, "rank_min", "ns") \
  each(RANK_MEDIAN, "rank_median", "ns") \
  each(RANK_MOST, "rank_max", "ns") \
  each(LONGEST, "longest_rank", NULL) \
  each(OF, "of", NULL)
// clang-format on

// ppi_answer_total is the row of the total of the answer that begins at `from`.
size_t ppi_answer_total(const ppi_view *view, size_t from);
// ppi_answer_put_text is the `put_text` of the view.
void ppi_answer_put_text(ppi_page *page, const ppi_view *view,
                         const ppi_report_options *options);

// ppi_findings_put writes the answer and at most five findings, each line of at
// most 100 columns. `options` (or NULL): see ppi_findings_of.
pprof_status ppi_findings_put(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings_options *options);
// ppi_findings_put_json writes all of them, as members of an object.
pprof_status ppi_findings_put_json(ppi_page *page, const ppi_figures *figures,
                                   const ppi_findings_options *options);
// The same for given findings, at most `most` of them.
void ppi_findings_put_members(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings *findings, size_t most);

PPROF_END_C_
