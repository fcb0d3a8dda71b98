// SPDX-License-Identifier: Apache-2.0
//
// The verbs, one file each. They print results on stdout or into --output,
// messages on stderr, and return an exit status.
#pragma once

#include "cli/options.h"
#include "pprof/event.h"

int ppi_tool_summary(const struct ppi_tool_options *options);
// Checks the options of `summary` before anything is read.
int ppi_tool_summary_check(const struct ppi_tool_options *options);
// `summary` of inputs that another verb found. *out_any: there is a report.
int ppi_tool_summary_of(const struct ppi_tool_options *options, bool *out_any);
int ppi_tool_trace(const struct ppi_tool_options *options);
int ppi_tool_export(const struct ppi_tool_options *options);
// Takes the format from the operands; logs remain.
int ppi_tool_export_operands(struct ppi_tool_options *options);
int ppi_tool_html(const struct ppi_tool_options *options);
// `html` of inputs that another verb found, into `path`.
int ppi_tool_html_of(const struct ppi_tool_options *options, const char *path);
int ppi_tool_sql(const struct ppi_tool_options *options);
// Takes the query from the operands.
int ppi_tool_sql_operands(struct ppi_tool_options *options);
int ppi_tool_fleet(const struct ppi_tool_options *options);
// Takes the query from the operands.
int ppi_tool_fleet_operands(struct ppi_tool_options *options);
int ppi_tool_info(const struct ppi_tool_options *options);
int ppi_tool_check(const struct ppi_tool_options *options);
// `check` against the rules of --expect.
int ppi_tool_check_expected(const struct ppi_tool_options *options);
int ppi_tool_expect(const struct ppi_tool_options *options);
int ppi_tool_recover(const struct ppi_tool_options *options);
// Recovers logs of dead processes in `folder`, an absolute path.
void ppi_tool_recover_logs_in(const char *folder);
int ppi_tool_import(const struct ppi_tool_options *options);
int ppi_tool_merge(const struct ppi_tool_options *options);
int ppi_tool_config(const struct ppi_tool_options *options);
int ppi_tool_stuck(const struct ppi_tool_options *options);
int ppi_tool_top(const struct ppi_tool_options *options);
int ppi_tool_metrics(const struct ppi_tool_options *options);
int ppi_tool_trigger(const struct ppi_tool_options *options);
int ppi_tool_compare(const struct ppi_tool_options *options);
int ppi_tool_try(const struct ppi_tool_options *options);
int ppi_tool_history(const struct ppi_tool_options *options);
int ppi_tool_search_batch(const struct ppi_tool_options *options);
int ppi_tool_cost(const struct ppi_tool_options *options);
int ppi_tool_whatif(const struct ppi_tool_options *options);
int ppi_tool_run(const struct ppi_tool_options *options);

// ppi_tool_read_runs gives each run once. Answers as ppi_tool_read does, after
// a message; INPUT also if the sink fails; `done` is the word for the message
// ("exported").
int ppi_tool_read_runs(const struct ppi_tool_options *options, pprof_sink *sink,
                       const char *done);
