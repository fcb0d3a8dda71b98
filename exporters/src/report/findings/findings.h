// SPDX-License-Identifier: Apache-2.0
//
// The findings of a finished report as sentences: which stage, how much, why,
// and what to do next. docs/findings.md has a section for each id.
#pragma once

#include "report/findings/finding.h"

PPROF_BEGIN_C_

enum { PPI_MOST_RULES = 48 };

// The public description of a rule.
typedef struct ppi_finding_rule {
  const char *id;
  double threshold;
  const char *unit;    // of the threshold
  const char *reason;  // why that threshold is right
} ppi_finding_rule;

// All zero: the rules' own settings.
typedef struct ppi_findings_options {
  bool is_set[PPI_MOST_RULES];  // by the rule's index
  double thresholds[PPI_MOST_RULES];
  // Stages with a known amount of computing; borrowed.
  const ppi_roofline *rooflines;
  size_t num_rooflines;
} ppi_findings_options;

size_t ppi_finding_num_rules(void);
const ppi_finding_rule *ppi_finding_rule_at(size_t index);
// ppi_findings_set sets a threshold. INVALID: no such rule, or no threshold.
pprof_status ppi_findings_set(ppi_findings_options *options, const char *id,
                              double threshold);
// ppi_findings_of applies all rules to `figures`; `options` may be NULL.
pprof_status ppi_findings_of(const ppi_figures *figures,
                             const ppi_findings_options *options,
                             ppi_findings *out);
void ppi_findings_clear(ppi_findings *findings);

PPROF_END_C_
