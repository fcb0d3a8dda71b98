// SPDX-License-Identifier: Apache-2.0
//
// The range of the open step: pprof_step ends it, and windows begin and cut it,
// too. All with the windows' mutex.
#pragma once

#include "session/state/capture_state.h"

// The range begins, for the part of the step after `now`; ends; or is cut
// there.
void ppi_step_open(ppi_steps *steps, uint64_t now);
void ppi_step_end(ppi_steps *steps, uint64_t now, uint64_t items);
void ppi_step_cut(ppi_steps *steps, uint64_t now);
