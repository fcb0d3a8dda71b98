// SPDX-License-Identifier: Apache-2.0
//
// Parses rules about runs. A file of rules is `expect:` and a list of lines.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef enum ppi_expect_kind {
  PPI_EXPECT_ORDER,    // UNIT has A -> B -> C
  PPI_EXPECT_COUNT,    // UNIT has A <= N
  PPI_EXPECT_NONE_IN,  // no A in B
  PPI_EXPECT_FIGURE,   // p99(A) < 8 ms
  PPI_EXPECT_OVERLAP,  // overlap(A, B) > 50 %
  PPI_EXPECT_LOST      // lost = 0
} ppi_expect_kind;

enum { PPI_EXPECT_MOST_NAMES = 32, PPI_EXPECT_MOST_TEXT = 512 };

typedef struct ppi_expect_rule {
  ppi_expect_kind kind;
  uint32_t line;  // in the file
  char text[PPI_EXPECT_MOST_TEXT];
  char words[PPI_EXPECT_MOST_TEXT];  // the text of the names
  const char *unit, *names[PPI_EXPECT_MOST_NAMES];
  size_t num_names;
  char op[3];       // <, <=, =, >= or >
  double bound;     // ns, %, or a number
  double quantile;  // of PPI_EXPECT_FIGURE, 1 is the longest; below 0: mean
} ppi_expect_rule;

typedef struct ppi_expect_rules {
  ppi_expect_rule *items;
  size_t num, capacity;
} ppi_expect_rules;

// ppi_expect_rules_read reads a file. CONFIG, with the place in `error`.
// ppi_expect_rules_clear frees either way.
pprof_status ppi_expect_rules_read(const char *path, ppi_expect_rules *out,
                                   pprof_error *error);
void ppi_expect_rules_clear(ppi_expect_rules *rules);
// ppi_expect_rule_parse parses one line; false: it is no rule.
bool ppi_expect_rule_parse(const char *text, ppi_expect_rule *out);

PPROF_END_C_
