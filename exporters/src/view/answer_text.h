// SPDX-License-Identifier: Apache-2.0
//
// The answer's columns, and its text.
#pragma once

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

PPROF_END_C_
