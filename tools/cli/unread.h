// SPDX-License-Identifier: Apache-2.0
//
// What lies beside the logs that are read and is likely to be missed.
#pragma once

#include "cli/options.h"

// ppi_tool_warn_unread names unfinished logs of dead processes beside the
// inputs on stderr, one line a folder: all of a folder, of files those that ran
// at the same time, such as killed workers of a pool.
//
// And of each input the log of the latest run that found its name taken, where
// that is no input: what is read is then of an earlier run.
void ppi_tool_warn_unread(const struct ppi_tool_options *options);
