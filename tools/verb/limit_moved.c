// SPDX-License-Identifier: Apache-2.0
#include "verb/limit_moved.h"

#include <string.h>

#include "input/input.h"

ppi_limit ppi_tool_limit_of(const char *path) {
  const ppi_report_details details = {.answer = true, .warmup = -1};
  struct ppi_tool_watch watch;
  struct ppi_tool_runs met = {.items = NULL};
  pprof_report *report;
  ppi_limit limit = {0};
  if (pprof_report_create(&report) != PPROF_STATUS_OK) return limit;
  ppi_report_set_details(report, &details);
  ppi_tool_read_again(path, pprof_report_sink(report), &watch, &met);
  const ppi_figures *figures = ppi_report_figures(report);
  if (figures) limit = figures->limit;
  ppi_tool_runs_clear(&met);
  pprof_report_destroy(report);
  return limit;
}

static const char *name_of(const ppi_limit *limit) {
  if (limit->claim == PPI_CLAIM_KEEPS_UP) return "arrivals";
  return limit->num_names ? limit->names[0] : "what is not recorded";
}

static void put_limit(ppi_page *notes, const ppi_limit *limit) {
  ppi_page_visible(notes, name_of(limit));
  if (limit->utilization <= 0 || limit->claim == PPI_CLAIM_KEEPS_UP) return;
  double busy = limit->utilization < 1 ? limit->utilization : 1;
  ppi_page_text(notes, " (busy ");
  ppi_page_fixed(notes, 100 * busy, 0);
  ppi_page_text(notes, " %)");
}

void ppi_tool_note_limits(const ppi_limit *before, const ppi_limit *after,
                          ppi_page *notes) {
  if (before->claim == PPI_CLAIM_NONE || after->claim == PPI_CLAIM_NONE ||
      strcmp(name_of(before), name_of(after)) == 0)
    return;
  ppi_page_text(notes, "The limit moved from ");
  put_limit(notes, before);
  ppi_page_text(notes, " to ");
  put_limit(notes, after);
  ppi_page_text(notes, "\n");
}
