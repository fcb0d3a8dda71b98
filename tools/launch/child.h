// SPDX-License-Identifier: Apache-2.0
//
// Runs a command as a shell would: it has our input, output and terminal, and
// the signals meant for it. Main thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// What is done while a command runs: after each of these times, until it
// answers false. `is_last`: of the times it is the last one, or somebody sends
// us SIGALRM.
typedef struct ppi_tool_look {
  const uint64_t *after_ns;  // rising; 0 behind the last one
  bool (*look)(void *user, pid_t child, bool is_last);
  void *user;
} ppi_tool_look;

// ppi_tool_child_run starts `argv` (ends with NULL) in this environment and
// waits for its end. Answers what a shell would: its exit status, 128 + n for
// signal n, and after a message 126 (cannot be run) or 127 (not found). Signals
// to us stay taken behind its end: where it was signalled, the next one is
// told and spared, so that its tables are not lost. `look` may be NULL.
int ppi_tool_child_run(char *const *argv, bool keeps_sigpipe,
                       const ppi_tool_look *look, bool *out_started);

// The same for at most `limit_ns` (0: for ever): then the command and all that
// it has started are told to end (SIGTERM), and killed five seconds later.
int ppi_tool_child_run_for(char *const *argv, bool keeps_sigpipe,
                           uint64_t limit_ns, bool *out_started,
                           bool *out_timed_out);

// The signal that asked us to end while the last command ran, which it got,
// too; 0: none.
int ppi_tool_child_end_asked(void);

// From here on signals do to us what they did before a command was run. May be
// called in a signal handler.
void ppi_tool_child_release_signals(void);

PPROF_END_C_
