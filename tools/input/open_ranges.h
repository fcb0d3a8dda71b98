// SPDX-License-Identifier: Apache-2.0
//
// Prints the open ranges of a spool, for `recover --open` and `info --live`.
#pragma once

#include "cli/options.h"

// ppi_tool_open_dead prints what was open in dead processes: those of the
// operands, spools or unfinished logs; without one, all that left a spool.
int ppi_tool_open_dead(const struct ppi_tool_options *options);
// ppi_tool_open_live prints what is open in running processes, named by their
// number, spool or unfinished log.
int ppi_tool_open_live(const struct ppi_tool_options *options);
