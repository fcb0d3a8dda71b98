// SPDX-License-Identifier: Apache-2.0
//
// Sets the variables that make a command record its NVTX calls. Main thread
// only.
#pragma once

#include <limits.h>
#include <stdbool.h>

#define PPI_INJECTION "NVTX_INJECTION64_PATH"

// ppi_tool_find_injection finds libpprof_nvtx.so: `given`, or NULL for the one
// beside this tool. False: none, with a message unless `is_optional` and
// `given` is NULL.
bool ppi_tool_find_injection(const char *given, bool is_optional,
                             char out[PATH_MAX]);

// ppi_tool_find_waits finds libpprof_waits.so beside `injection`, or where both
// were built. False after a message.
bool ppi_tool_find_waits(const char *injection, char out[PATH_MAX]);

// ppi_tool_set_injection makes processes started from here load `library`.
// False: out of memory.
bool ppi_tool_set_injection(const char *library);
// ppi_tool_path_in writes FOLDER/NAME; false: it is too long.
bool ppi_tool_path_in(char out[PATH_MAX], const char *folder, const char *name);
// ppi_tool_variable_add adds `text` to an environment variable, behind its
// value or before it. False: no memory.
bool ppi_tool_variable_add(const char *name, const char *separator,
                           const char *text, bool is_first);
// ppi_tool_own_folder is the folder of this program; `out` has the text.
const char *ppi_tool_own_folder(char out[PATH_MAX]);
