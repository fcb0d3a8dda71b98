// SPDX-License-Identifier: Apache-2.0
//
// What lies beside the logs that are read and is likely to be missed.
#pragma once

#include "cli/options.h"

// ppi_tool_warn_unread names on stderr, in one line for each folder, unfinished
// logs beside the inputs whose processes are dead, of a folder all, of files
// those that ran at the same time: workers of a pool that were killed, say.
//
// And of each input the log of the latest run that found its name taken, where
// that is no input: what is read is then of an earlier run.
void ppi_tool_warn_unread(const struct ppi_tool_options *options);
