// SPDX-License-Identifier: Apache-2.0
//
// The folders of spools without a configured folder.
#pragma once

#include <sys/types.h>

#include "pprof/base.h"

// ppi_spool_folders answers the number of default folders, two at most. Its
// texts are the environment's.
size_t ppi_spool_folders(const char *out[2]);
// ppi_spool_visit calls `visit` for files that look like a spool of `owner`, in
// the sessions' default folders. Answers the number of other users' spools.
// Without a path in the request, these are left alone, even by root.
unsigned ppi_spool_visit(uid_t owner,
                         void (*visit)(const char *path, void *user),
                         void *user);
// Whether a file's name, without its folder, is that of a spool.
bool ppi_spool_is_name(const char *name);
