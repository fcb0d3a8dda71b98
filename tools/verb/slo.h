// SPDX-License-Identifier: Apache-2.0
//
// What a served request must keep to be good.
#pragma once

#include "report/figures/serving.h"

// ppi_tool_slo_read reads "ttft=200ms,itl=50ms" (also tpot and e2e; ns, us, ms,
// s). NULL is none.
//
// Result: an exit code; a mistake was said.
int ppi_tool_slo_read(const char *text, ppi_slo *out);
