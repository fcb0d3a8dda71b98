// SPDX-License-Identifier: Apache-2.0
//
// What limits one input, and what another one.
#pragma once

#include "file/text.h"
#include "report/report.h"

// ppi_tool_limit_of reads `path` again, and says nothing of it; claim none:
// nothing is known.
ppi_limit ppi_tool_limit_of(const char *path);
// A line where another stage limits, or arrivals do.
void ppi_tool_note_limits(const ppi_limit *before, const ppi_limit *after,
                          ppi_page *notes);
