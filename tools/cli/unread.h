// SPDX-License-Identifier: Apache-2.0
//
// Warns of logs beside the inputs that a user is likely to miss.
#pragma once

#include "cli/options.h"

// ppi_tool_warn_unread names on stderr unfinished logs of dead processes beside
// the inputs, one line a folder. For an input folder it names all of them. For
// input files it names logs of the same time, such as killed workers of a pool.
//
// For each input it also names the log of the latest run that found the input's
// name taken: the input is of an earlier run. A log that is an input is not
// named.
void ppi_tool_warn_unread(const struct ppi_tool_options *options);
