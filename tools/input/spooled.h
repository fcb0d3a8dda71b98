// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are no file to be read at any place: standard input, and logs in
// gzip. Each becomes an unnamed file, which goes with the process. One thread.
#pragma once

#include "cli/options.h"

// ppi_tool_inputs_spool replaces such inputs by paths of those files; messages
// go on calling them what the command line does. Answers PPI_EXIT_DONE, or
// another after a message: _DAMAGED where the beginning can be read.
int ppi_tool_inputs_spool(struct ppi_tool_options *options);
