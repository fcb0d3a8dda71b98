// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of `try`, as a table with an answer in words.
#pragma once

#include "cli/options.h"
#include "compare/compare_turns.h"
#include "file/text.h"

// All pointers are borrowed.
typedef struct ppi_turns_result {
  const struct ppi_tool_options *options;
  const ppi_turns *turns;
  const ppi_compare_stage *const *stages;
  // The mean of the logarithms of the runs' figures, by stage: of the base,
  // then of each program.
  const double *logs;
  const char *const *commands;
  ppi_metric metric;
  const ppi_page *notes;  // a line each
} ppi_turns_result;

// Answers `code`, or PPI_EXIT_USAGE if a write failed.
int ppi_turns_print(const ppi_turns_result *result, int code);
