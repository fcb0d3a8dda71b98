// SPDX-License-Identifier: Apache-2.0
//
// Formats views, lists of lines and time units for verbs that print no report.
#include "cli/rows.h"

#include "cli/look.h"
#include "file/json_put.h"
#include "view/grid.h"

ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options) {
  unsigned i = options->time_unit ? PPI_TIME_S : PPI_TIME_MS;
  while (i > 0 &&
         strcmp(ppi_time_unit_name((ppi_time_unit)i), options->time_unit) != 0)
    i--;
  return (ppi_time_unit)i;
}

ppi_cell *ppi_tool_row(ppi_view *view) {
  return ppi_tool_must(ppi_view_add_row(view, 0, 0));
}

void ppi_tool_rows_view(ppi_page *page, const ppi_view *view,
                        const struct ppi_tool_options *options,
                        ppi_report_format format) {
  ppi_report_options how = {.time_unit = ppi_tool_time_unit(options),
                            .columns = options->tables.columns};
  if (how.columns) {
    ppi_page known = {0};
    ppi_view_put_columns(view->kind, &known);
    if (!ppi_names_are_of(how.columns, known.bytes))
      ppi_tool_say("'--columns %s' has others than %s", how.columns,
                   known.bytes);
    ppi_page_clear(&known);
  }
  ppi_tool_look(options, &how);
  ppi_print_view(page, view, format, &how);
}

void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines) {
  const char *at = lines->bytes ? lines->bytes : "";
  ppi_put_line(page);
  ppi_put_array(page, key);
  while (*at) {
    size_t len = strcspn(at, "\n");
    ppi_page line = {0};
    ppi_page_bytes(&line, at, len);
    ppi_put_text(page, NULL, line.bytes ? line.bytes : "");
    page->failed |= line.failed;
    ppi_page_clear(&line);
    at += len + (at[len] == '\n');
  }
  ppi_page_text(page, "]");
}

void ppi_tool_rows_begin(ppi_page *page, const char *schema) {
  ppi_put_object(page, NULL);
  ppi_put_text(page, "schema", schema);
}

void ppi_tool_rows_all(ppi_page *page, const ppi_view *view,
                       const struct ppi_tool_options *options,
                       const char *schema) {
  ppi_report_format format = ppi_report_format_of(options->format);
  bool is_json = format == PPI_FORMAT_JSON;
  if (is_json && !page->len) ppi_tool_rows_begin(page, schema);
  ppi_tool_rows_view(page, view, options, format);
  page->failed |= view->note.failed;
  if (!is_json) return;
  ppi_tool_rows_lines(page, "notes", &view->note);
  ppi_page_text(page, "}\n");
}
