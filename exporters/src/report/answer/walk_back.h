// SPDX-License-Identifier: Apache-2.0
//
// The walk of ppi_moments_walk for host ranges that nest on their lanes, and
// their device work. It goes back from the last end, so that a range comes
// after those around it, and sorts nothing.
#pragma once

#include "report/answer/walk.h"

PPROF_BEGIN_C_

// ppi_walk_back_run adds to the accounts. `*out_whole` is false where a range
// overlaps another one of its lane partly, is on a device before it is
// submitted, or what begins at one time leaves
// open what lies in what: then the accounts are to be thrown away.
pprof_status ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole);

PPROF_END_C_
