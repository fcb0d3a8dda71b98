// SPDX-License-Identifier: Apache-2.0
//
// A model's cost, which Python counts: pprof._model, over the package onnx.
#pragma once

#include "cost/table/cost.h"

// ppi_tool_model_cost counts the model `path` with the sizes of `dims` (NULL:
// none). Answers PPI_EXIT_DONE, or another after a message that begins with
// `who` (or ""). ppi_cost_clear is needed either way.
int ppi_tool_model_cost(const char *who, const char *path, const char *dims,
                        ppi_cost *out);
