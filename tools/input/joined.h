// SPDX-License-Identifier: Apache-2.0
//
// What a killed process left, as one log: its unfinished log and its spool, put
// together where nobody else sees it. Both stay as they are. One thread.
#pragma once

#include <stdbool.h>

#include "pprof/base.h"

bool ppi_tool_is_spool(const char *path);

// ppi_tool_join answers what to read for `path`: for a spool, and for a .part
// of a dead process with its spool, a log of both; stderr names the latter. For
// anything else it is `path`. It lives until ppi_tool_join_clear. Errors, of a
// spool alone: as ppi_recover's.
pprof_status ppi_tool_join(const char *path, const char **out,
                           pprof_error *error);
// Whether `path` was put together with another file.
bool ppi_tool_is_joined(const char *path);
void ppi_tool_join_clear(void);

// Room for a log that nobody else sees; NULL with `error` set.
char *ppi_tool_private_log(const char *path, pprof_error *error);
void ppi_tool_private_log_remove(char *made);
