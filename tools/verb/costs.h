// SPDX-License-Identifier: Apache-2.0
//
// What models say of stages, as people write it in one option.
#ifndef PPI_TOOL_COSTS_H_
#define PPI_TOOL_COSTS_H_

#include "view/stage_cost.h"

// ppi_tool_costs_read reads and counts "detector.onnx:detect*,encoder.onnx"
// (NULL: nothing): without a stage it is the one that is called as the file is,
// up to its first dot. `dims` is what --dim says. Answers PPI_EXIT_DONE, or
// another after a message.
int ppi_tool_costs_read(const char *text, const char *dims,
                        ppi_stage_costs *out);

#endif  // PPI_TOOL_COSTS_H_
