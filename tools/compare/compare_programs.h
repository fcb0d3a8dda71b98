// SPDX-License-Identifier: Apache-2.0
//
// Tests whether two programs differ. Each run is one observation of its
// program, so the dependence of calls within a run needs no model. Pure
// functions.
#pragma once

#include "compare/compare_comparison.h"

// ppi_run_spread_add adds the runs of one program.
void ppi_run_spread_add(ppi_run_spread *spread, const ppi_compare_stage *stage,
                        ppi_metric metric);
// ppi_programs_test fills in the answer, except the verdict, which needs the
// correction of p over `num_tests`.
void ppi_programs_test(ppi_comparison *comparison, size_t num_tests);
// ppi_programs_decide gives the verdict, once p is corrected.
void ppi_programs_decide(ppi_comparison *comparison);
// ppi_programs_can_test answers whether there are enough runs for a test.
bool ppi_programs_can_test(const ppi_comparison *comparison);
