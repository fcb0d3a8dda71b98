// SPDX-License-Identifier: Apache-2.0
//
// Why a command marks nothing of what its configuration names, as far as
// /proc tells. Main thread only.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "schema/schema.h"

// ppi_tool_unmarked_say prints one line with the first reason that applies to
// the processes that `child` has started, and to others that have this run's
// variables. `others`: something is marked, but nothing that has a name of the
// configuration's. False, and nothing is printed: none of them listens at a
// port of TCP, and it is not `must`.
bool ppi_tool_unmarked_say(const ppi_config_run *run, pid_t child, bool others,
                           bool must);
