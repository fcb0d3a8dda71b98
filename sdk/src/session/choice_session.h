// SPDX-License-Identifier: Apache-2.0
//
// Keeps, applies and changes a session's choice.
#pragma once

#include "names/names.h"
#include "pprof/session.h"
#include "session/state/session_state.h"
#include "spool/spool.h"

PPROF_BEGIN_C_

// ppi_session_set_choice copies `choice`. In a session that runs, only
// include, exclude and cpu may differ from what is in force (INVALID); they
// hold from a new epoch on. Ranges of the category ProfileStep are never
// excluded.
pprof_status ppi_session_set_choice(pprof_session *session,
                                    const ppi_choice *choice);

// ppi_choice_begin puts it in force; before the first name.
pprof_status ppi_choice_begin(const ppi_choice_state *state, ppi_names *names,
                              ppi_spool_header *header);
void ppi_choice_destroy(ppi_choice_state *state);

PPROF_END_C_
