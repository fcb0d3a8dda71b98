// SPDX-License-Identifier: Apache-2.0
//
// Finds the spools of an operand: a process, a spool, an unfinished log.
#pragma once

// `path` is the spool's, `named` its name in messages.
typedef void (*ppi_tool_spool_fn)(const char *path, const char *named,
                                  void *user);

// Each calls `visit` for every spool it finds, and answers PPI_EXIT_DONE, or
// PPI_EXIT_INPUT after a message if there is none.
int ppi_tool_spool_of_file(const char *path, ppi_tool_spool_fn visit,
                           void *user);
// A number is a process, unless a file has that name. A dead process has the
// spools that it left.
int ppi_tool_spool_of(const char *operand, ppi_tool_spool_fn visit, void *user);
