// SPDX-License-Identifier: Apache-2.0
//
// The page around a table of `compare`.
#include "compare/compare_print.h"

#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_html.h"
#include "compare/compare_pairs.h"
#include "compare/compare_ranking.h"
#include "print/report_print.h"

static void put_inputs(ppi_page *page, const ppi_compare_result *result) {
  static const char *const keys[] = {"uuid", "host", "pid"};
  ppi_page_text(page, "\"inputs\":[");
  for (size_t i = 0; i < result->num_inputs; i++) {
    const ppi_samples *input = &result->inputs[i];
    const char *const texts[] = {input->uuid, input->host, input->pid};
    ppi_page_text(page, i ? ",\n{\"name\":" : "\n{\"name\":");
    ppi_page_json(page, result->names[i]);
    for (size_t k = 0; k < 3; k++) {
      ppi_page_format(page, ",\"%s\":", keys[k]);
      ppi_page_json(page, texts[k] ? texts[k] : "");
    }
    ppi_page_format(page, ",\"runs\":%zu}", input->num_runs);
  }
  ppi_page_text(page, "],\n");
}

static void put_page(ppi_page *page, const ppi_compare_result *result,
                     const ppi_view *view,
                     const struct ppi_tool_options *options,
                     ppi_report_format format) {
  bool is_json = format == PPI_FORMAT_JSON;
  if (is_json) {
    ppi_page_text(page, "{\"schema\":\"pprof.compare/1\",\n");
    put_inputs(page, result);
  }
  ppi_tool_rows_view(page, view, options, format);
  if (!is_json) return;
  ppi_tool_rows_lines(page, "notes", result->notes);
  ppi_page_text(page, "}\n");
}

static void make_page(const struct ppi_tool_options *options,
                      const ppi_compare_result *result,
                      ppi_report_format format, ppi_page *page) {
  bool as_table = format == PPI_FORMAT_TABLE;
  ppi_view view;
  bool ok = result->num_inputs == 2
                ? ppi_compare_pairs(result, format, &view)
                : ppi_compare_ranking(result, as_table, &view);
  if (ok) put_page(page, result, &view, options, format);
  page->failed |= !ok || view.note.failed || result->notes->failed;
  ppi_view_clear(&view);
}

int ppi_compare_print(const struct ppi_tool_options *options,
                      const ppi_compare_result *result, int code) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_page page = {.is_raw = options->raw}, json = {0};
  make_page(options, result, format, &page);
  code = ppi_tool_output_page(options, &page, code);
  if (!options->html) return code;
  make_page(options, result, PPI_FORMAT_JSON, &json);
  return ppi_compare_html(options, result, &json, code);
}
