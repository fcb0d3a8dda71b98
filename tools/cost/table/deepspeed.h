// SPDX-License-Identifier: Apache-2.0
//
// Prints a model's modules as DeepSpeed's FLOPS profiler prints PyTorch's.
#pragma once

#include "cost/table/groups.h"
#include "file/text.h"

PPROF_BEGIN_C_

// ppi_cost_deepspeed writes the summary, the `top` greatest modules (0 or less:
// one) of each depth, and the tree, of modules in the order of the model. The
// latencies are those of the nodes inside, where times were joined.
void ppi_cost_deepspeed(ppi_page *page, const ppi_cost *cost,
                        const ppi_cost_groups *modules, long top);

PPROF_END_C_
