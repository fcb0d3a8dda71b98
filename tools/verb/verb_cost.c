// SPDX-License-Identifier: Apache-2.0
//
// `cost`: what an ONNX model computes, before it runs.
#include <limits.h>
#include <string.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "cost/table/cost_view.h"
#include "cost/table/deepspeed.h"
#include "verb/model_cost.h"
#include "verb/node_times.h"
#include "verb/verbs.h"

enum { USUAL_DEPTH = 3 };

static ppi_cost_by by_of(const char *name) {
  static const char *const names[] = {"module", "operator", "module,operator",
                                      "node"};
  unsigned by = 0;
  while (by < PPI_COST_BY_NODE && strcmp(names[by], name) != 0) by++;
  return (ppi_cost_by)by;
}

static void put_head(ppi_page *page, const char *path,
                     const ppi_cost_groups *groups) {
  ppi_page_text(page, "{\"schema\":\"pprof.cost/1\",\n\"model\":");
  ppi_page_json(page, path);
  ppi_page_text(page, ",\n");
  ppi_cost_totals(page, groups);
}

static int print(const struct ppi_tool_options *options, const char *path,
                 ppi_cost *cost) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_cost_by by = by_of(options->cost.by);
  long depth =
      options->tables.depth == LONG_MIN ? USUAL_DEPTH : options->tables.depth;
  ppi_page page = {.is_raw = options->raw};
  ppi_cost_groups groups;
  ppi_view view = {0};
  bool ok =
      ppi_cost_group_by(cost, by, depth, &groups) &&
      ppi_cost_view(cost, &groups, by, format, options->tables.top, &view);
  if (ok) {
    if (format == PPI_FORMAT_JSON) put_head(&page, path, &groups);
    ppi_tool_rows_view(&page, &view, options, format);
    if (format == PPI_FORMAT_JSON) {
      ppi_tool_rows_lines(&page, "notes", &view.note);
      ppi_page_text(&page, "}\n");
    }
  }
  page.failed |= !ok;
  ppi_view_clear(&view);
  ppi_cost_groups_clear(&groups);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

static int print_as_deepspeed(const struct ppi_tool_options *options,
                              ppi_cost *cost) {
  ppi_page page = {0};
  ppi_cost_groups groups;
  bool ok = ppi_cost_group_by(cost, PPI_COST_BY_MODULE, options->tables.depth,
                              &groups);
  if (ok) ppi_cost_deepspeed(&page, cost, &groups, options->tables.top);
  page.failed |= !ok;
  ppi_cost_groups_clear(&groups);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

static int count(const struct ppi_tool_options *options) {
  const char *path = options->inputs[0];
  ppi_cost cost;
  int code = ppi_tool_model_cost("", path, options->cost.dims, &cost);
  if (code == PPI_EXIT_DONE && options->cost.times)
    code = ppi_tool_node_times(options->cost.times, options->cost.step, &cost);
  if (code == PPI_EXIT_DONE)
    code = options->tables.style ? print_as_deepspeed(options, &cost)
                                 : print(options, path, &cost);
  bool is_unused = cost.unused != NULL;
  if (is_unused)
    ppi_tool_say("%s: no dimension or tensor is called '%s'", path,
                 cost.unused);
  ppi_cost_clear(&cost);
  return is_unused && code == PPI_EXIT_DONE ? PPI_EXIT_USAGE : code;
}

int ppi_tool_cost(const struct ppi_tool_options *options) {
  int code = ppi_tool_output_check(options, options->output);
  if (options->num_inputs > 1) {
    ppi_tool_say("cost takes one model");
    code = PPI_EXIT_USAGE;
  }
  if (options->tables.style &&
      ppi_report_format_of(options->format) != PPI_FORMAT_TABLE) {
    ppi_tool_say("'--style deepspeed' is a page of text: leave out '-f %s'",
                 options->format);
    code = PPI_EXIT_USAGE;
  }
  if (options->cost.step >= 0 && !options->cost.times) {
    ppi_tool_say("--step needs --times");
    code = PPI_EXIT_USAGE;
  }
  return code == PPI_EXIT_DONE ? count(options) : code;
}
