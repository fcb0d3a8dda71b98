// SPDX-License-Identifier: Apache-2.0
//
// Makes a complete log of a dead process's spool, its .part file, or both.
// Called by the tool, and by reclaim on its thread.
#pragma once

#include "log/recover/recover_result.h"

PPROF_BEGIN_C_

// `path` is a spool or a log. `options` may be NULL. The log is written beside
// its final name and renamed, and only then are .part and spool removed, so a
// recover that was killed is simply run again. Of several at one spool one does
// it. A .part that does not lead to
// its spool yet is recovered with the one that stages its blocks. Paths that
// a spool names are followed as recover_path.h says; of another user's spool
// nothing is removed.
//
// Errors: IO · INVALID (neither a spool nor a log, or
// nothing of a log, and its spool is not found) · BUSY (its process lives,
// or another recover is at it) · VERSION · NO_MEMORY.
pprof_status ppi_recover(const char *path, const ppi_recover_options *options,
                         ppi_recover_result *out, pprof_error *error);
// ppi_recover_in_place recovers a spool without a request: only beside a file
// of the run's log that is where the spool names it, and that nobody writes.
// Errors: the same, and UNAVAILABLE if there is none, or if the run's dump
// would go elsewhere.
pprof_status ppi_recover_in_place(const char *spool, ppi_recover_result *out);
PPROF_END_C_
