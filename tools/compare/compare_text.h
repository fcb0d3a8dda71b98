// SPDX-License-Identifier: Apache-2.0
//
// The result of `compare`, and the cells that both of its tables have.
#pragma once

#include "cli/options.h"
#include "compare/compare_judge.h"
#include "print/report_print.h"

#define PPI_COMPARE_ONE_RUN                                                   \
  "Whether the programs differ, one run each cannot say: `pprof-report try` " \
  "runs both in\nturns; else give three runs a side, each side as a folder\n"

// All pointers are borrowed.
typedef struct ppi_compare_result {
  const ppi_samples *inputs;
  const char *const *names;  // of the inputs, as they were given
  size_t num_inputs;
  // With two inputs, A is the first. With more, the comparisons of a stage and
  // metric are adjacent: A is the best input, B each other one, best first.
  const ppi_comparison *comparisons;
  size_t num_comparisons;
  const ppi_page *notes;  // a line each
} ppi_compare_result;

// Cells of both tables.
const char *ppi_compare_side(const ppi_compare_stage *stage);
// The time of a side, or its energy in J; the other cell is empty.
ppi_cell ppi_compare_time(const ppi_comparison *comparison, int side);
ppi_cell ppi_compare_energy(const ppi_comparison *comparison, int side);
// The time or energy of a side, for people.
ppi_cell ppi_compare_value(ppi_view *view, const ppi_comparison *comparison,
                           int side);
// For energy, "slower" is "more".
const char *ppi_compare_verdict(const ppi_comparison *comparison,
                                const ppi_decision *decision);
bool ppi_compare_has_energy(const ppi_compare_result *result);
// The verdict, or instead of "ambiguous" the runs that would decide.
ppi_cell ppi_compare_programs(const ppi_comparison *comparison);
// The first call of the first run, if it is no sample.
ppi_cell ppi_compare_first(const ppi_compare_stage *stage);
ppi_cell ppi_compare_text(const char *text);  // none when NULL or ""
const ppi_compare_stage *ppi_compare_stage_of(const ppi_comparison *comparison);
// Escapes a text for the inside of an element of HTML.
void ppi_compare_put_html(ppi_page *page, const char *text);
