// SPDX-License-Identifier: Apache-2.0
//
// Prints a query's rows as CSV, JSON or a table.
#include "verb/answer.h"

#include "cli/look.h"
#include "file/json_put.h"
#include "view/grid.h"

// Puts a field of CSV or a table's cell; NULL is empty. Answers whether it is a
// text.
static bool put_cell(ppi_page *page, ppi_query_answer *answer, int at,
                     void (*put_text)(ppi_page *, const char *)) {
  bool is_number = false;
  const char *text = answer->cell(answer, at, &is_number);
  if (!text) return false;
  if (is_number)
    ppi_page_text(page, text);
  else
    put_text(page, text);
  return !is_number;
}

// JSON has no infinite numbers and no NaN.
static void put_json_cell(ppi_page *page, ppi_query_answer *answer, int at) {
  bool is_number = false;
  const char *text = answer->cell(answer, at, &is_number);
  bool is_finite = text && !strchr("IiNn", text[text[0] == '-']);
  ppi_put_key(page, NULL);
  if (!text || (is_number && !is_finite))
    ppi_page_text(page, "null");
  else
    (is_number ? ppi_page_text : ppi_page_json)(page, text);
}

static void put_csv(ppi_page *page, ppi_query_answer *answer) {
  int num = answer->num_columns;
  for (int i = 0; i < num; i++) {
    if (i) ppi_page_text(page, ",");
    ppi_page_csv(page, answer->column_name(answer, i));
  }
  ppi_page_text(page, "\n");
  while (answer->next(answer)) {
    for (int i = 0; i < num; i++) {
      if (i) ppi_page_text(page, ",");
      put_cell(page, answer, i, ppi_page_csv);
    }
    ppi_page_text(page, "\n");
  }
}

static void put_json(ppi_page *page, ppi_query_answer *answer) {
  int num = answer->num_columns;
  ppi_put_object(page, NULL);
  ppi_put_array(page, "columns");
  for (int i = 0; i < num; i++) {
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", answer->column_name(answer, i));
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  ppi_put_array(page, "rows");
  while (answer->next(answer)) {
    ppi_put_line(page);
    ppi_put_array(page, NULL);
    for (int i = 0; i < num; i++) put_json_cell(page, answer, i);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]}\n");
}

static void put_row_cells(ppi_grid *grid, ppi_query_answer *answer) {
  for (size_t i = 0; i < grid->num_columns; i++) {
    if (put_cell(&grid->text, answer, (int)i, ppi_page_visible))
      grid->columns[i].is_left = true;
    ppi_grid_end_cell(grid);
  }
}

// Takes the columns, with headings in `names`.
static void take_columns(ppi_grid *grid, ppi_query_answer *answer,
                         const char *asked, ppi_page *names) {
  for (size_t i = 0; i < grid->num_columns; i++) {
    ppi_page_visible(names, answer->column_name(answer, (int)i));
    ppi_page_repeat(names, '\0', 1);
  }
  const char *heading = ppi_tool_must(names->failed ? NULL : names->bytes);
  for (size_t i = 0; i < grid->num_columns; i++) {
    bool is_out = asked && !ppi_names_have(asked, heading);
    grid->columns[i] = (ppi_grid_column){
        .heading = heading, .rank = is_out ? 0 : i, .is_out = is_out};
    heading += strlen(heading) + 1;
  }
}

// Fits the table by cutting texts and dropping the last columns.
static void put_grid(ppi_page *page, ppi_grid *grid, bool is_wide) {
  enum { FLOOR = 12 };
  for (size_t i = 0; i < grid->num_columns; i++)
    if (grid->columns[i].is_left) grid->columns[i].floor = FLOOR;
  ppi_grid_fit(grid, is_wide ? SIZE_MAX : ppi_page_columns(page));
  ppi_grid_put_prefix(page, grid);
  ppi_grid_put_headings(page, grid);
  for (size_t row = 0; row < ppi_grid_num_rows(grid); row++)
    ppi_grid_put_row(page, grid, row);
  ppi_grid_put_left_out(page, grid);
}

static void put_table(ppi_page *page, ppi_query_answer *answer,
                      const struct ppi_tool_options *options) {
  size_t num = (size_t)answer->num_columns;
  ppi_grid grid = {
      .columns = ppi_tool_must(ppi_alloc(num * sizeof *grid.columns)),
      .num_columns = num};
  ppi_report_options how = {.width = 0};
  ppi_page names = {0};
  ppi_tool_look(options, &how);
  page->width = how.width;
  take_columns(&grid, answer, options->tables.columns, &names);
  while (answer->next(answer)) put_row_cells(&grid, answer);
  put_grid(page, &grid, how.is_wide);
  ppi_grid_clear(&grid);
  ppi_page_clear(&names);
  ppi_free(grid.columns);
}

void ppi_answer_put(ppi_page *page, ppi_query_answer *answer,
                    const struct ppi_tool_options *options) {
  const char *format = options->format;
  if (strcmp(format, "json") == 0)
    put_json(page, answer);
  else if (strcmp(format, "csv") == 0)
    put_csv(page, answer);
  else
    put_table(page, answer, options);
}
