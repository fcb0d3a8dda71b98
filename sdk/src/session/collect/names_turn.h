// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back from names that nobody uses any more (names_old.h), beside the
// collector's cycles: no marker waits, and none does more than it did.
#pragma once

#include "session/state/collect_state.h"

PPROF_BEGIN_C_

// ppi_names_turn takes it as far as it goes now; at the end of each cycle, when
// no checkpoint is under way. True: what is kept is waited for, so the next
// cycle takes a checkpoint.
bool ppi_names_turn(ppi_collect *collect);

PPROF_END_C_
