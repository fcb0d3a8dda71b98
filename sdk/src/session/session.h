// SPDX-License-Identifier: Apache-2.0
//
// A session makes room for another.
#pragma once

#include "pprof/base.h"

// ppi_session_set_yield: a session by injection makes room for the program's.
// `yield` is called, without locks, when a session wants to start while another
// runs.
void ppi_session_set_yield(void (*yield)(void));
