// SPDX-License-Identifier: Apache-2.0
//
// Where a run writes.
#pragma once

#include "start/running.h"

PPROF_BEGIN_C_

// `config_path` is the file that was read; NULL: there was none.
pprof_status ppi_running_expand_paths(ppi_running *run, const char *config_path,
                                      pprof_error *error);
// A writer has made its file `own` instead, with a number: `path` is another
// run's.
void ppi_running_note_path(char path[PATH_MAX], const char *own);
// Renames what injection's run `ended` has left under a name that `next` is
// about to write.
void ppi_running_keep_older(const ppi_running *ended, const ppi_running *next);

PPROF_END_C_
