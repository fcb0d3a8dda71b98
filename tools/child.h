// SPDX-License-Identifier: Apache-2.0
//
// Runs a command as a shell would: it has our input, output and terminal, and
// the signals meant for it. Main thread only.
#ifndef PPI_TOOL_CHILD_H_
#define PPI_TOOL_CHILD_H_

#include <stdbool.h>

// ppi_tool_child_run starts `argv` (ends with NULL) in this environment and
// waits for its end. Answers what a shell would: its exit status, 128 + n for
// signal n, and after a message 126 (cannot be run) or 127 (not found).
int ppi_tool_child_run(char *const *argv, bool keeps_sigpipe,
                       bool *out_started);

#endif  // PPI_TOOL_CHILD_H_
