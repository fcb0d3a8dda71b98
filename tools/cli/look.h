// SPDX-License-Identifier: Apache-2.0
//
// Finds the width, colour and characters of the output.
#pragma once

#include "cli/options.h"
#include "view/report_options.h"

// ppi_tool_look sets `width`, `is_wide`, `has_colour` and `is_ascii` for the
// terminal or file that --output names.
void ppi_tool_look(const struct ppi_tool_options *options,
                   ppi_report_options *out);
// ppi_tool_terminal answers the columns of a terminal; 0: `fd` is none.
size_t ppi_tool_terminal(int fd);
