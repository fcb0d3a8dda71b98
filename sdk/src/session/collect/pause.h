// SPDX-License-Identifier: Apache-2.0
//
// How long the collector waits between two cycles: the configured interval, and
// up to ten times as long while little comes. A cycle costs the program more by
// the caches that it empties than by its instructions.
#pragma once

#include <stdbool.h>

#include "pprof/session.h"

// ppi_pause waits for its time to pass, for a time when windows move, or for a
// request for more than `answered`. `delivered`: the sinks had room.
void ppi_pause(pprof_session *session, uint64_t answered, uint64_t due_ns,
               bool delivered);
