// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back from names that nobody uses any more (names_old.h), beside the
// collector's cycles: no marker waits, and none does more than it did.
#ifndef PPI_NAMES_TURN_H_
#define PPI_NAMES_TURN_H_

#include "session/state/collect_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_names_turn takes it as far as it goes now; at the end of each cycle, when
// no checkpoint is under way. True: what is kept is waited for, so the next
// cycle takes a checkpoint.
bool ppi_names_turn(ppi_collect *collect);

#ifdef __cplusplus
}
#endif

#endif  // PPI_NAMES_TURN_H_
