// SPDX-License-Identifier: Apache-2.0
//
// Reads the stages, metrics and margins from the command line of `compare`.
#pragma once

#include "cli/options.h"
#include "compare/compare_judge.h"

enum { PPI_MAX_THRESHOLDS = 64 };

typedef struct ppi_threshold {
  char pattern[256];  // of names of stages; * and ? stand for anything
  ppi_metric metric;
  double margin;
  bool is_used;
} ppi_threshold;

typedef struct ppi_wanted {
  const char *stages;  // patterns joined by commas; NULL: all
  ppi_metric metric;
  double margin;
  ppi_threshold thresholds[PPI_MAX_THRESHOLDS];
  size_t num_thresholds;
  bool fails[PPI_NUM_VERDICTS];
  size_t num_warm;
} ppi_wanted;

// Answers PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message.
int ppi_wanted_parse(const struct ppi_tool_options *options, ppi_wanted *out);
// Whether one of `patterns`, joined by commas, matches `name`.
bool ppi_wanted_matches(const char *patterns, const char *name);
// Whether a figure of energy is wanted, which needs a report.
bool ppi_wanted_energy(const ppi_wanted *wanted);
bool ppi_wanted_has(const ppi_wanted *wanted, const ppi_compare_stage *stage);
// The change of this figure that matters; negative: the figure is not wanted.
double ppi_wanted_margin(ppi_wanted *wanted, const ppi_compare_stage *stage,
                         ppi_metric metric);
// ppi_wanted_number reads a whole number from `least` on; false after a
// message that names `option`.
bool ppi_wanted_number(const char *option, const char *text, size_t least,
                       size_t *out);
// ppi_wanted_percent reads "5%" or "0.5%", up to 1000 %, as a share.
bool ppi_wanted_percent(const char *text, size_t len, double *out);
