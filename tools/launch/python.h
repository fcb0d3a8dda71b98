// SPDX-License-Identifier: Apache-2.0
//
// Runs our Python modules (of the package pprof), and writes modules for a
// command into the folder ".python" of its logs. Main thread only.
#pragma once

#include <limits.h>
#include <stdio.h>

#include "cli/carried.h"
#include "file/buffer.h"

// ppi_tool_python answers the interpreter: PPROF_PYTHON, or else python3.
const char *ppi_tool_python(void);

// ppi_tool_python_read runs `module` with `words` (ends with NULL) and `input`
// from its begin (NULL: our input), and appends its output; its messages go to
// our stderr. UNAVAILABLE: it cannot be started; NO_MEMORY; its exit status is
// ignored.
pprof_status ppi_tool_python_read(const char *module, const char *const *words,
                                  FILE *input, ppi_buffer *out);

// ppi_tool_python_split cuts a line of such an output into words, in place.
enum { PPI_PYTHON_WORDS = 32 };
size_t ppi_tool_python_split(char *line, char *out[PPI_PYTHON_WORDS]);

// ppi_tool_carried_find answers the file `name`; NULL after a message, which
// calls the kind of file `what`.
const ppi_carried *ppi_tool_carried_find(const ppi_carried *files,
                                         const char *what, const char *name);

// ppi_tool_python_join makes the path of `name` in that folder, "" for the
// folder itself. False: too long, with errno.
bool ppi_tool_python_join(char out[PATH_MAX], const char *folder,
                          const char *name);
// ppi_tool_python_write makes the file `name` of that folder, and the folders
// around it. An existing file stays. False: errno is the reason.
bool ppi_tool_python_write(const char *folder, const char *name,
                           const char *text);
// ppi_tool_python_add adds a path to PYTHONPATH once, as the first or the last
// one. False: errno is the reason.
bool ppi_tool_python_add(const char *path, bool is_first);
// ppi_tool_python_drop removes that folder.
void ppi_tool_python_drop(const char *folder);
