// SPDX-License-Identifier: Apache-2.0
//
// Runs commands repeatedly, each with logs of its own in one folder. Main
// thread only.
#pragma once

#include <limits.h>
#include <signal.h>

#include "cli/options.h"

enum { PPI_TRIAL_ENDINGS = 3 };
typedef struct ppi_trial {
  const struct ppi_tool_options *options;
  char folder[PATH_MAX];  // of the logs; an absolute path
  struct sigaction before[PPI_TRIAL_ENDINGS];
} ppi_trial;

// ppi_trial_begin makes the folder, makes commands record their NVTX calls if
// possible, and notes the signals that ask us to end. Answers PPI_EXIT_DONE, or
// PPI_EXIT_USAGE after a message.
int ppi_trial_begin(ppi_trial *trial, const struct ppi_tool_options *options);
// ppi_trial_end removes the folder, unless the user named it.
void ppi_trial_end(const ppi_trial *trial);
// ppi_trial_set_output names the logs of the next command, in a folder.
void ppi_trial_set_output(const char *folder, const char *prefix);
// ppi_trial_run runs a command as ppi_tool_child_run does, with its output in
// `to`.
int ppi_trial_run(char *const *argv, int to, bool keeps_sigpipe,
                  bool *out_started);
// Whether it is a folder without files; if not, errno says why.
bool ppi_trial_is_empty(const char *folder);
// The signal that asked us to end between two commands; 0: none.
int ppi_trial_asked(void);
