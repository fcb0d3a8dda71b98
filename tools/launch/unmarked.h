// SPDX-License-Identifier: Apache-2.0
//
// Finds the reason why a command marks none of the names of its configuration,
// from /proc. Main thread only.
#pragma once

#include <sys/types.h>

#include "schema/schema.h"

PPROF_BEGIN_C_

// ppi_tool_unmarked_say prints one line with the first reason that applies to
// the processes of the run: descendants of `child`, and others with the run's
// variables. `others`: something is marked, but under no name of the
// configuration. False, and no line: none of them listens at a TCP port, and
// `must` is false.
bool ppi_tool_unmarked_say(const ppi_config_run *run, pid_t child, bool others,
                           bool must);

PPROF_END_C_
