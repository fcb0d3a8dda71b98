// SPDX-License-Identifier: Apache-2.0
//
// The runs of all inputs into one sink, one after the other.
#pragma once

#include "cli/options.h"
#include "pprof/event.h"

// ppi_tool_read_runs gives each run once. Answers as ppi_tool_read does, after
// a message; INPUT also where the sink fails, which `done` says ("exported").
int ppi_tool_read_runs(const struct ppi_tool_options *options, pprof_sink *sink,
                       const char *done);
