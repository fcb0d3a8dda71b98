// SPDX-License-Identifier: Apache-2.0
//
// Joins the unfinished log and the spool of a killed process in one private
// log. Both files stay as they are. One thread.
#pragma once

#include "pprof/base.h"

bool ppi_tool_is_spool(const char *path);

// ppi_tool_join answers the path to read for `path`: for a spool, and for a
// .part of a dead process with its spool, a log of both; stderr names the
// latter. For anything else it is `path`. It lives until ppi_tool_join_clear.
// Errors, of a spool alone: as ppi_recover's.
pprof_status ppi_tool_join(const char *path, const char **out,
                           pprof_error *error);
// Whether `path` was joined with another file.
bool ppi_tool_is_joined(const char *path);
void ppi_tool_join_clear(void);

// Makes a path for a log in a private folder; NULL with `error` set.
char *ppi_tool_private_log(const char *path, pprof_error *error);
void ppi_tool_private_log_remove(char *made);
