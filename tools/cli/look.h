// SPDX-License-Identifier: Apache-2.0
//
// How a page for people looks where it goes: its width, colour, characters.
#pragma once

#include "cli/options.h"
#include "view/report_options.h"

// ppi_tool_look sets `width`, `is_wide`, `has_colour` and `is_ascii` for what
// --output names: a terminal, or a file.
void ppi_tool_look(const struct ppi_tool_options *options,
                   ppi_report_options *out);
