// SPDX-License-Identifier: Apache-2.0
//
// Copies inputs that cannot be read at any place (standard input, gzipped logs)
// into unnamed files, which end with the process. One thread.
#pragma once

#include "cli/options.h"

// ppi_tool_inputs_spool replaces such inputs by paths of those files; messages
// still use the names of the command line. Answers PPI_EXIT_DONE, or another
// after a message: _DAMAGED if only the beginning can be read.
int ppi_tool_inputs_spool(struct ppi_tool_options *options);
