// SPDX-License-Identifier: Apache-2.0
//
// Patterns of `include` that chose nothing: a name that is spelt wrong leaves a
// log without what was looked for.
#pragma once

#include "pprof/event.h"

struct ppi_tool_unmatched;
// ppi_tool_unmatched_create answers NULL without memory. The sink says of each
// run that it is given which patterns match none of its names, and some that do
// not match.
struct ppi_tool_unmatched *ppi_tool_unmatched_create(void);
pprof_sink *ppi_tool_unmatched_sink(struct ppi_tool_unmatched *unmatched);
void ppi_tool_unmatched_destroy(struct ppi_tool_unmatched *unmatched);
