// SPDX-License-Identifier: Apache-2.0
//
// Prints the answer of a query as CSV, JSON or a table, for any engine.
#pragma once

#include "cli/options.h"
#include "file/text.h"

typedef struct ppi_query_answer ppi_query_answer;
struct ppi_query_answer {
  int num_columns;
  const char *(*column_name)(ppi_query_answer *answer, int at);
  // Steps to the next row, at first to the first one. False: there is none.
  bool (*next)(ppi_query_answer *answer);
  // A cell of the row, valid until the next call; NULL: the cell is NULL.
  const char *(*cell)(ppi_query_answer *answer, int at, bool *is_number);
};

// ppi_answer_put prints all rows in --format: table, csv or json.
void ppi_answer_put(ppi_page *page, ppi_query_answer *answer,
                    const struct ppi_tool_options *options);
