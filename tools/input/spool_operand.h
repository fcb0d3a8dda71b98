// SPDX-License-Identifier: Apache-2.0
//
// From what the command line names (a process, a spool, an unfinished log) to
// spools.
#pragma once

// `path` is the spool's, `named` what messages call it.
typedef void (*ppi_tool_spool_fn)(const char *path, const char *named,
                                  void *user);

// Each calls `visit` for what it finds, and answers PPI_EXIT_DONE, or
// PPI_EXIT_INPUT after a message where there is nothing to be visited.
int ppi_tool_spool_of_file(const char *path, ppi_tool_spool_fn visit,
                           void *user);
// A number is a process's, unless a file is called so. One that is dead has the
// spools that it left.
int ppi_tool_spool_of(const char *operand, ppi_tool_spool_fn visit, void *user);
