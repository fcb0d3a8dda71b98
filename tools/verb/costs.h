// SPDX-License-Identifier: Apache-2.0
//
// Joins models' costs to stages, by options or by the configuration of a run
// (`cost`). An option overrides the key.
#pragma once

#include "cli/options.h"
#include "file/buffer.h"
#include "pprof/report.h"
#include "report/findings/findings.h"
#include "view/view_stages.h"

struct ppi_tool_costs {
  ppi_peaks peaks;
  ppi_stage_costs costs;
  ppi_rooflines rooflines;  // of the report
};

// ppi_tool_costs_check reads and counts the models of options, such as
// "detector.onnx:detect*,encoder.onnx". The default stage is the file's name up
// to its first dot. Answers PPI_EXIT_DONE, or another after a message.
int ppi_tool_costs_check(const struct ppi_tool_options *options);
// ppi_tool_costs_take does the same for a report, and names models without a
// stage. An unreadable model of the configuration is no failure. `findings`
// gets the thresholds, which were checked before, and the rooflines.
int ppi_tool_costs_take(const struct ppi_tool_options *options,
                        const pprof_report *report, struct ppi_tool_costs *out,
                        ppi_findings_options *findings);

// Each line of pprof._model: words[0] says of what kind.
typedef struct ppi_model_words {
  void (*take)(void *user, char *const *words, size_t num);
  void *user;
} ppi_model_words;

// ppi_tool_model_ask asks pprof._model, with `input` (NULL: ours) as its input,
// for the lines of its answer, which stay in `text`. Answers PPI_EXIT_DONE, or
// another after a message that begins with `who` (or "").
int ppi_tool_model_ask(const char *who, const char *const *words, FILE *input,
                       ppi_buffer *text, ppi_model_words to);

// ppi_tool_cell_of makes a cell of a word of Python's: its kind and the value.
ppi_cell ppi_tool_cell_of(ppi_view *view, const char *word);
