// SPDX-License-Identifier: Apache-2.0
//
// The walk of ppi_moments_walk for host ranges that nest on their lanes, and
// their device work. It goes back from the last end, so a range comes after the
// ranges around it. It sorts nothing.
#pragma once

#include "report/answer/walk.h"

PPROF_BEGIN_C_

// ppi_walk_back_run adds to the accounts. With `*out_whole` false, discard the
// accounts. Ranges of a lane then overlap partly, device work precedes its
// submission, or equal begins leave nesting open.
bool ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole);

PPROF_END_C_
