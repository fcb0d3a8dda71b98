// SPDX-License-Identifier: Apache-2.0
//
// How long a model's nodes took, by a trace of a run of it.
#pragma once

#include "cost/table/cost.h"

// ppi_tool_node_times reads the trace or log `path` and gives each row of
// `cost` the time of the ranges that are of its node, of one run: by ONNX
// Runtime's `node`, or by their name. Of runs (`model_run`, steps) the one
// `step`, from 0; -1: the mean of all but the first, where there are several.
// Answers PPI_EXIT_DONE, or another after a message.
int ppi_tool_node_times(const char *path, long step, ppi_cost *cost);
