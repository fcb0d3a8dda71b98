// SPDX-License-Identifier: Apache-2.0
//
// The paths of a run.
#pragma once

#include "start/running.h"

// `config_path` is the file that was read; NULL: none.
pprof_status ppi_running_expand_paths(ppi_running *run, const char *config_path,
                                      pprof_error *error);
// A writer has put a number into its file's name `own`, because `path` belongs
// to another run.
void ppi_running_note_path(char path[PATH_MAX], const char *own);
// Renames files of injection's run `ended` with names that `next` is about to
// write.
void ppi_running_keep_older(const ppi_running *ended, const ppi_running *next);
