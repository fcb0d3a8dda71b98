// SPDX-License-Identifier: Apache-2.0
//
// What a query answers, printed as CSV, JSON or a table, whichever engine has
// it.
#pragma once

#include "cli/options.h"
#include "file/text.h"

typedef struct ppi_answer ppi_answer;
struct ppi_answer {
  int num_columns;
  const char *(*column_name)(ppi_answer *answer, int at);
  // Steps to the next row, at first to the first one. False: there is none.
  bool (*next)(ppi_answer *answer);
  // Of that row; until the next call. NULL: so is the cell.
  const char *(*cell)(ppi_answer *answer, int at, bool *is_number);
};

// ppi_answer_put prints all rows as --format has it: table, csv or json.
void ppi_answer_put(ppi_page *page, ppi_answer *answer,
                    const struct ppi_tool_options *options);
