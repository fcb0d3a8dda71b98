// SPDX-License-Identifier: Apache-2.0
//
// Prints the open ranges of a spool, for `recover --open-ranges` and `info
// --live`.
#pragma once

#include "cli/options.h"

// ppi_tool_open_dead prints open ranges of dead processes: of the operands
// (spools or unfinished logs), or else of all processes that left a spool.
int ppi_tool_open_dead(const struct ppi_tool_options *options);
// ppi_tool_open_live prints open ranges of running processes, named by their
// number, spool or unfinished log.
int ppi_tool_open_live(const struct ppi_tool_options *options);
