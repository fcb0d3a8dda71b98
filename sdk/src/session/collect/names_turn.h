// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back from unused names (names_old.h), beside the collector's
// cycles: no marker waits or does more work.
#pragma once

#include "session/state/collect_state.h"

// ppi_names_turn goes as far as possible now; call it at the end of each cycle,
// when no checkpoint is under way. True: it waits for kept records, so the next
// cycle takes a checkpoint.
bool ppi_names_turn(ppi_collect *collect);
