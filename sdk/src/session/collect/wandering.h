// SPDX-License-Identifier: Apache-2.0
//
// Wandering ranges as the collector sees them. Its thread only.
#ifndef PPI_WANDERING_H_
#define PPI_WANDERING_H_

#include "session/state/session_state.h"

// ppi_wandering_drain delivers what has ended, cutting first what an edge ends.
void ppi_wandering_drain(pprof_session *session);
// ppi_wandering_free returns the slots of records below `kept`.
void ppi_wandering_free(pprof_session *session, uint64_t kept);

#endif  // PPI_WANDERING_H_
