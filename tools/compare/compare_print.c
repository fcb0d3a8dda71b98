// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of `compare` and writes its page.
#include "compare/compare_print.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_pairs.h"
#include "compare/compare_ranking.h"
#include "compare/compare_text.h"
#include "file/json_put.h"
#include "html/html.h"
#include "html/spread_text.h"
#include "print/report_print.h"

// ---- the page ----

static void put_spread(ppi_page *page, size_t input,
                       const ppi_compare_stage *stage) {
  uint64_t counts[PPI_SPREAD_CLASSES] = {0};
  for (size_t i = 0; i < stage->num_values; i++)
    ppi_spread_count(counts, (uint64_t)stage->values[i], 1);
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "input", input);
  ppi_put_text(page, "name", stage->name);
  ppi_put_text(page, "category", stage->category);
  ppi_put_text(page, "side", ppi_compare_side(stage));
  ppi_spread_put_counts(page, "all", counts);
  ppi_page_text(page, "}");
}

// ppi_compare_put_spreads appends the distributions of the compared stages.
static void ppi_compare_put_spreads(ppi_page *page,
                                    const ppi_compare_result *result) {
  bool any = false;
  ppi_put_array(page, NULL);
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_compare_stage *stage =
        ppi_compare_stage_of(&result->comparisons[i]);
    if (i > 0 && stage == ppi_compare_stage_of(&result->comparisons[i - 1]))
      continue;
    for (size_t k = 0; k < result->num_inputs; k++) {
      const ppi_compare_stage *found =
          ppi_samples_find(&result->inputs[k], stage);
      if (!found || found->energy) continue;
      if (any) ppi_put_line(page);
      put_spread(page, k, found);
      any = true;
    }
  }
  ppi_page_text(page, "]\n");
}

// ppi_compare_html writes `json`, the result as JSON, and `spreads` into
// --html's file, and frees both. Answers the worse of `code` and its own.
static int ppi_compare_html(const struct ppi_tool_options *options,
                            ppi_page *json, ppi_page *spreads, int code) {
  struct ppi_tool_options to = *options;
  FILE *out;
  to.output = options->html;
  int opened = ppi_tool_output_open(&to, &out);
  if (opened != PPI_EXIT_DONE) {
    ppi_page_clear(json);
    ppi_page_clear(spreads);
    return opened;
  }
  errno = 0;
  ppi_html_begin(out);
  pprof_status status = ppi_html_element(out, "compare", json);
  pprof_status more = ppi_html_element(out, "spreads", spreads);
  if (status == PPROF_STATUS_OK) status = more;
  ppi_html_end(out);
  int reason = errno;
  if (status == PPROF_STATUS_NO_MEMORY) {
    ppi_tool_say("out of memory");
    code = PPI_EXIT_INPUT;
  }
  code = ppi_tool_output_close(&to, out, reason, code);
  if (strcmp(to.output, "-") != 0) ppi_tool_show(stderr, to.output);
  return code;
}

// ---- the rest ----

static void put_inputs(ppi_page *page, const ppi_compare_result *result) {
  static const char *const keys[] = {"uuid", "host", "pid"};
  ppi_put_line(page);
  ppi_put_array(page, "inputs");
  for (size_t i = 0; i < result->num_inputs; i++) {
    const ppi_samples *input = &result->inputs[i];
    const char *const texts[] = {input->uuid, input->host, input->pid};
    ppi_put_line(page);
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", result->names[i]);
    for (size_t k = 0; k < 3; k++)
      ppi_put_text(page, keys[k], texts[k] ? texts[k] : "");
    ppi_put_u64(page, "runs", input->num_runs);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_page(ppi_page *page, const ppi_compare_result *result,
                     const ppi_view *view,
                     const struct ppi_tool_options *options,
                     ppi_report_format format) {
  bool is_json = format == PPI_FORMAT_JSON;
  if (is_json) {
    ppi_tool_rows_begin(page, "pprof.compare/1");
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
  if (result->num_inputs == 2)
    ppi_compare_pairs(result, format, &view);
  else
    ppi_compare_ranking(result, as_table, &view);
  put_page(page, result, &view, options, format);
  page->failed |= view.note.failed || result->notes->failed;
  ppi_view_clear(&view);
}

// Compressed and in base64, so many rows fit a page of 3 MB.
enum { PAGE_ROWS = 4096, PAGE_BYTES = 2000000 };

// Writes as many of the first rows as the page has room for.
static int put_html(const struct ppi_tool_options *options,
                    const ppi_compare_result *result, int code) {
  ppi_page json = {0}, spreads = {0}, notes = {0};
  ppi_compare_result part = *result;
  size_t num = result->num_comparisons, most = PAGE_ROWS;
  do {
    json.len = spreads.len = notes.len = 0;
    part.num_comparisons = PPI_MIN(num, most);
    part.notes = &notes;
    ppi_page_bytes(&notes, result->notes->bytes, result->notes->len);
    if (part.num_comparisons < num)
      ppi_page_format(&notes,
                      "This page has the first %zu of %zu rows; `pprof-report "
                      "compare -f csv` prints all\n",
                      part.num_comparisons, num);
    make_page(options, &part, PPI_FORMAT_JSON, &json);
    ppi_compare_put_spreads(&spreads, &part);
    most /= 2;
  } while (json.len + spreads.len > PAGE_BYTES && most);
  json.failed |= notes.failed;
  ppi_page_clear(&notes);
  return ppi_compare_html(options, &json, &spreads, code);
}

int ppi_compare_print(const struct ppi_tool_options *options,
                      const ppi_compare_result *result, int code) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_page page = {.is_raw = options->raw};
  make_page(options, result, format, &page);
  code = ppi_tool_output_page(options, &page, code);
  return options->html ? put_html(options, result, code) : code;
}
