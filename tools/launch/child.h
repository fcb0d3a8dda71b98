// SPDX-License-Identifier: Apache-2.0
//
// Runs a command as a shell would: with our input, output and terminal, and
// with the signals meant for it. Main thread only.
#pragma once

#include <sys/types.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// A function to call while a command runs, after each of these times, until it
// answers false. `is_last`: at the last time, or after a SIGALRM to us.
typedef struct ppi_tool_look {
  const uint64_t *after_ns;  // rising; 0 after the last one
  bool (*look)(void *user, pid_t child, bool is_last);
  void *user;
} ppi_tool_look;

// ppi_tool_child_run starts `argv` (ends with NULL) in this environment and
// waits for its end. Answers as a shell would: its exit status, 128 + n for
// signal n, and after a message 126 (cannot be run) or 127 (not found). Our
// handlers stay after its end: if the command got a signal, the next signal
// only prints a message, so that the tables are not lost. `look` may be NULL.
int ppi_tool_child_run(char *const *argv, bool keeps_sigpipe,
                       const ppi_tool_look *look, bool *out_started);

// The signal that asked us and the last command to end while it ran; 0: none.
int ppi_tool_child_end_asked(void);

// Restores the signal handling from before a command was run. May be called in
// a signal handler.
void ppi_tool_child_release_signals(void);

PPROF_END_C_
