// SPDX-License-Identifier: Apache-2.0
//
// The spool of a .part that does not name it: its process died before its first
// block was in the file.
#pragma once

#include "recover/salvage.h"

PPROF_BEGIN_C_

// ppi_recover_find looks through this user's spools, in the folders where a
// session puts them by itself, for that of a dead process which stages the
// blocks of just this file and has its uuid. `uuid` is that of the file's
// header, "" where it has none yet. *out is the path, the caller's to ppi_free;
// NULL: there is none. `*out_named`: a spool names the file, be it a living
// process's or another user's. NO_MEMORY alone is an error.
pprof_status ppi_recover_find(const char *part, const char *uuid, char **out,
                              bool *out_named);

// The log of the blocks that the spool stages, "" when there is none.
const char *ppi_recover_staged_log(const ppi_salvage *salvage);
bool ppi_recover_same_file(const char *a, const char *b);
// Whether a log writer, or a child that it forked, has it open.
bool ppi_recover_is_written(const char *path);

PPROF_END_C_
