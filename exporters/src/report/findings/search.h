// SPDX-License-Identifier: Apache-2.0
//
// The input of a rule, and how it reports a finding.
#pragma once

#include "report/findings/finding.h"
#include "report/findings/impossible.h"
#include "report/findings/words.h"

typedef struct ppi_search {
  const ppi_figures *figures;
  const ppi_answer *answer;  // by `base`
  ppi_base_kind base;
  const char *unit;    // "request", "step", "run"
  const char *a_unit;  // "an iteration"
  double unit_ns;      // the mean time of one
  const char *id;      // of the current rule
  double threshold;    // of the current rule
  const ppi_roofline *rooflines;
  size_t num_rooflines;
  ppi_impossible impossible;
  ppi_findings *out;
  ppi_finding ignored;  // what ppi_search_add answers for none
  bool failed;          // out of memory
} ppi_search;

// ppi_search_add adds an empty finding that explains `share` of the units'
// time; fill it before the next. A problem that explains too little is ignored,
// and with impossible times everything except limits.
typedef enum ppi_finding_sort {
  PPI_FACT = 0,
  PPI_PROBLEM,
  PPI_LATER_PROBLEM,  // costs no time yet
  PPI_LIMIT
} ppi_finding_sort;
ppi_finding *ppi_search_add(ppi_search *search, ppi_finding_sort sort,
                            double share);
void ppi_finding_value_add(ppi_finding *finding, const char *name,
                           double number, const char *unit);
