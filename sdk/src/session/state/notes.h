// SPDX-License-Identifier: Apache-2.0
//
// A session's notes: what numbers cannot say about the run. They come from any
// thread (ppi_session_note) between open and close.
#ifndef PPI_NOTES_H_
#define PPI_NOTES_H_

#include "session/state/session_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_session_note adds to the run's notes (trust). Any thread; what comes
// after the totals were told is dropped.
void ppi_session_note(pprof_session *session, const char *key,
                      const char *text);
// The start's, once there are names: those that came before, then any.
bool ppi_notes_open(pprof_session *session);
// After a start that failed: as before it.
void ppi_notes_forget(pprof_session *session);
// The collector's: session->notes is its own from here on.
void ppi_notes_close(pprof_session *session);
// ppi_notes_copy adds those that have come so far to `out`; any thread.
bool ppi_notes_copy(pprof_session *session, ppi_texts *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_NOTES_H_
