// SPDX-License-Identifier: Apache-2.0
//
// What models say of stages, as options have it, or the configuration that a
// run had (`cost`): an option goes before its key.
#pragma once

#include "cli/options.h"
#include "cost/table/cost.h"
#include "pprof/report.h"
#include "view/view_stages.h"

struct ppi_tool_costs {
  ppi_peaks peaks;
  ppi_stage_costs costs;
  ppi_rooflines rooflines;  // of the report
};

// ppi_tool_costs_check reads and counts what options name, such as
// "detector.onnx:detect*,encoder.onnx": without a stage it is the one that is
// called as the file is, up to its first dot. Answers PPI_EXIT_DONE, or another
// after a message.
int ppi_tool_costs_check(const struct ppi_tool_options *options);
// ppi_tool_costs_take does the same for a report, and says which models no
// stage has. Models of the configuration that cannot be read fail nothing.
int ppi_tool_costs_take(const struct ppi_tool_options *options,
                        const pprof_report *report, struct ppi_tool_costs *out);

// ppi_tool_model_cost counts the model `path` with the sizes of `dims` (NULL:
// none). Answers PPI_EXIT_DONE, or another after a message that begins with
// `who` (or ""). ppi_cost_clear is needed either way.
int ppi_tool_model_cost(const char *who, const char *path, const char *dims,
                        ppi_cost *out);
