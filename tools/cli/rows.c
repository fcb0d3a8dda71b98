// SPDX-License-Identifier: Apache-2.0
//
// Views without a report, written.
#include "cli/rows.h"

#include <string.h>

#include "print/printers.h"

static const char *const formats[] = {[PPI_FORMAT_TABLE] = "table",
                                      [PPI_FORMAT_CSV] = "csv",
                                      [PPI_FORMAT_JSON] = "json",
                                      [PPI_FORMAT_MARKDOWN] = "markdown"};

ppi_report_format ppi_tool_format(const struct ppi_tool_options *options) {
  unsigned i = PPI_FORMAT_MARKDOWN;
  while (i > 0 && strcmp(formats[i], options->format) != 0) i--;
  return (ppi_report_format)i;
}

ppi_time_unit ppi_tool_time_unit(const struct ppi_tool_options *options) {
  unsigned i = options->time_unit ? PPI_TIME_S : PPI_TIME_MS;
  while (i > 0 &&
         strcmp(ppi_time_unit_name((ppi_time_unit)i), options->time_unit) != 0)
    i--;
  return (ppi_time_unit)i;
}

static void put_json(ppi_page *page, const ppi_view *view) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_text(page, "\"columns\":[");
  for (size_t i = 0; i < kind->num_columns; i++) {
    const ppi_column *column = &kind->columns[i];
    ppi_page_format(page, "%s{\"name\":\"%s\"", i ? "," : "", column->name);
    if (column->unit) ppi_page_format(page, ",\"unit\":\"%s\"", column->unit);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "],\n\"rows\":[");
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_page_text(page, row ? ",\n[" : "\n[");
    for (size_t i = 0; i < kind->num_columns; i++) {
      if (i) ppi_page_text(page, ",");
      ppi_page_cell(page, &view->cells[row * kind->num_columns + i],
                    ppi_page_json, "null");
    }
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}

void ppi_tool_rows_put(ppi_page *page, const ppi_view *view,
                       ppi_report_format format, ppi_time_unit unit) {
  switch (format) {
    case PPI_FORMAT_TABLE:
      ppi_table_put(page, view, unit);
      break;
    case PPI_FORMAT_CSV:
      ppi_csv_put(page, view, false);
      break;
    case PPI_FORMAT_MARKDOWN:
      ppi_markdown_put(page, view, unit);
      break;
    case PPI_FORMAT_JSON:
      put_json(page, view);
      break;
  }
}

void ppi_tool_rows_lines(ppi_page *page, const char *key,
                         const ppi_page *lines) {
  const char *at = lines->bytes ? lines->bytes : "";
  ppi_page_format(page, ",\n\"%s\":[", key);
  for (const char *comma = ""; *at; comma = ",") {
    size_t len = strcspn(at, "\n");
    ppi_page line = {0};
    ppi_page_bytes(&line, at, len);
    ppi_page_text(page, comma);
    ppi_page_json(page, line.bytes ? line.bytes : "");
    page->failed |= line.failed;
    ppi_page_clear(&line);
    at += len + (at[len] == '\n');
  }
  ppi_page_text(page, "]");
}
