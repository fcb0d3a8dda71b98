// SPDX-License-Identifier: Apache-2.0
//
// Who makes room for whom.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_session_set_yield: a session of injection's makes room for one that the
// program starts: `yield` is called, without locks, when one wants to start
// while another runs.
void ppi_session_set_yield(void (*yield)(void));

PPROF_END_C_
