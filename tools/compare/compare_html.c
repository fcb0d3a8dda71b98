// SPDX-License-Identifier: Apache-2.0
//
// Writes the comparison as a page.
#include "compare/compare_html.h"

#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "html/html.h"
#include "html/spread_text.h"

static void put_spread(ppi_page *page, size_t input,
                       const ppi_compare_stage *stage) {
  uint64_t counts[PPI_SPREAD_CLASSES] = {0};
  for (size_t i = 0; i < stage->num_values; i++)
    ppi_spread_count(counts, (uint64_t)stage->values[i], 1);
  ppi_page_format(page, "{\"input\":%zu,\"name\":", input);
  ppi_page_json(page, stage->name);
  ppi_page_text(page, ",\"category\":");
  ppi_page_json(page, stage->category);
  ppi_page_format(page, ",\"side\":\"%s\",", ppi_compare_side(stage));
  ppi_spread_put_counts(page, "all", counts);
  ppi_page_text(page, "}");
}

void ppi_compare_put_spreads(ppi_page *page, const ppi_compare_result *result) {
  const char *comma = "";
  ppi_page_text(page, "[");
  for (size_t i = 0; i < result->num_comparisons; i++) {
    const ppi_compare_stage *stage =
        ppi_compare_stage_of(&result->comparisons[i]);
    if (i > 0 && stage == ppi_compare_stage_of(&result->comparisons[i - 1]))
      continue;
    for (size_t k = 0; k < result->num_inputs; k++) {
      const ppi_compare_stage *found =
          ppi_samples_find(&result->inputs[k], stage);
      if (!found || found->energy) continue;
      ppi_page_text(page, comma);
      put_spread(page, k, found);
      comma = ",\n";
    }
  }
  ppi_page_text(page, "]\n");
}

int ppi_compare_html(const struct ppi_tool_options *options, ppi_page *json,
                     ppi_page *spreads, int code) {
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
