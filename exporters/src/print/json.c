// SPDX-License-Identifier: Apache-2.0
//
// Prints a report as JSON: one shape for every view, then identity, trust,
// inputs.
#include "print/printers.h"
#include "view/findings_text.h"
#include "view/view_trust.h"

static void put_at_max(ppi_page *page, const ppi_view *view, size_t row) {
  ppi_page names = {0};
  bool any = ppi_view_put_at_max(view, row, &names);
  ppi_page_text(page, any ? ",\"" : ",null");
  ppi_page_bytes(page, names.bytes, names.len);
  if (any) ppi_page_text(page, "\"");
  page->failed |= names.failed;
  ppi_page_clear(&names);
}

static void put_row(ppi_page *page, const ppi_view *view, size_t row) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_text(page, row ? ",\n[" : "\n[");
  for (size_t i = 0; i < kind->num_columns; i++) {
    if (i) ppi_page_text(page, ",");
    ppi_page_cell(page, &view->cells[row * kind->num_columns + i],
                  ppi_page_json, "null");
  }
  if (kind->has_quantiles) put_at_max(page, view, row);
  ppi_page_text(page, "]");
}

void ppi_json_put_columns(ppi_page *page, const ppi_view *view) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_text(page, "\"columns\":[");
  for (size_t i = 0; i < kind->num_columns; i++) {
    const ppi_column *column = &kind->columns[i];
    ppi_page_format(page, "%s{\"name\":\"%s\"", i ? "," : "", column->name);
    if (column->unit) ppi_page_format(page, ",\"unit\":\"%s\"", column->unit);
    ppi_page_text(page, "}");
  }
  if (kind->has_quantiles)
    ppi_page_text(page, ",{\"name\":\"" PPI_AT_MAX "\"}");
  ppi_page_text(page, "]");
}

void ppi_json_put_rows(ppi_page *page, const ppi_view *view) {
  ppi_page_text(page, "\"rows\":[");
  for (size_t row = 0; row < view->num_rows; row++) put_row(page, view, row);
  ppi_page_text(page, "]");
}

static void put_view(ppi_page *page, const ppi_view *view) {
  ppi_page_format(page, "\"%s\":{", view->kind->name);
  ppi_json_put_columns(page, view);
  ppi_page_text(page, ",");
  ppi_json_put_rows(page, view);
  if (view->reason && view->num_rows == 0) {
    ppi_page_text(page, ",\"reason\":");
    ppi_page_json(page, view->reason);
  }
  ppi_page_text(page, "}");
}

static void put_inputs(ppi_page *page, const ppi_figures *figures) {
  ppi_page_text(page, "\"inputs\":[");
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    ppi_page_text(page, i ? ",\n{\"uuid\":" : "\n{\"uuid\":");
    ppi_page_json(page, input->uuid);
    ppi_page_text(page, ",\"host\":");
    ppi_page_json(page, input->host);
    ppi_page_text(page, ",\"pid\":");
    ppi_page_json(page, input->pid);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

void ppi_json_put(ppi_page *page, const ppi_figures *figures,
                  const ppi_view *views, size_t num_views,
                  const ppi_report_options *found) {
  ppi_page_text(page, "{\"schema\":\"pprof.report/1\",\n\"views\":{");
  for (size_t i = 0; i < num_views; i++) {
    ppi_page_text(page, i ? ",\n" : "\n");
    put_view(page, &views[i]);
  }
  ppi_page_text(page, "},\n");
  if (found) {
    if (ppi_findings_put_json(page, figures, found->findings) !=
        PPROF_STATUS_OK)
      page->failed = true;
    ppi_page_text(page, ",\n");
  }
  ppi_identity_put_json(page, figures);
  ppi_page_text(page, ",\n");
  ppi_trust_put_json(page, figures);
  ppi_page_text(page, ",\n");
  put_inputs(page, figures);
  ppi_page_text(page, "}\n");
}
