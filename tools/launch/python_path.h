// SPDX-License-Identifier: Apache-2.0
//
// Modules of Python that the tool brings for a command, in the folder ".python"
// of its logs. Main thread only.
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "cli/carried.h"

// ppi_tool_carried_find answers the file `name`; NULL after a message, which
// calls it `what`.
const ppi_carried *ppi_tool_carried_find(const ppi_carried *files,
                                         const char *what, const char *name);

// ppi_tool_python_join makes the path of `name` in that folder, "" for the
// folder itself. False: too long; errno says so.
bool ppi_tool_python_join(char out[PATH_MAX], const char *folder,
                          const char *name);
// ppi_tool_python_write makes the file `name` of that folder, and the folders
// around it. One that is there stays. False: errno says why.
bool ppi_tool_python_write(const char *folder, const char *name,
                           const char *text);
// ppi_tool_python_add adds a path to PYTHONPATH once, as the first or the last
// one. False: errno says why.
bool ppi_tool_python_add(const char *path, bool is_first);
// ppi_tool_python_drop removes that folder.
void ppi_tool_python_drop(const char *folder);
