// SPDX-License-Identifier: Apache-2.0
//
// Finds the spool of a .part that does not name it: its process died before the
// first block was in the file.
#pragma once

#include "recover/salvage.h"

// ppi_recover_find looks through this user's spools in the sessions' default
// folders. It searches for the spool of a dead process that stages this file's
// blocks and has its uuid. `uuid` is from the file's header, or "". The caller
// frees *out, the path (ppi_free); NULL: none. `*out_named`: a spool names the
// file, even one of a living process or another user. NO_MEMORY is the only
// error.
pprof_status ppi_recover_find(const char *part, const char *uuid, char **out,
                              bool *out_named);

// The log of the spool's staged blocks; "": none.
const char *ppi_recover_staged_log(const ppi_salvage *salvage);
bool ppi_recover_same_file(const char *a, const char *b);
// Whether a log writer, or a forked child of it, has it open.
bool ppi_recover_is_written(const char *path);
