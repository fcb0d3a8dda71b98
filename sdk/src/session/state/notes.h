// SPDX-License-Identifier: Apache-2.0
//
// A session's notes: facts about the run without numbers. They come from any
// thread between open and close.
#pragma once

#include <pthread.h>

#include "event/texts.h"

PPROF_BEGIN_C_

typedef enum ppi_notes_state {
  PPI_NOTES_EARLY = 0,  // before the start
  PPI_NOTES_OPEN = 1,
  PPI_NOTES_CLOSED = 2  // the totals are being delivered
} ppi_notes_state;

typedef struct ppi_notes {
  pthread_mutex_t mutex;
  ppi_notes_state state;
  ppi_texts early, all;
} ppi_notes;

void ppi_notes_init(ppi_notes *notes);
void ppi_notes_in_forked_child(ppi_notes *notes);
// ppi_notes_add: any thread; notes after the totals are dropped.
void ppi_notes_add(ppi_notes *notes, const char *key, const char *text);
// The start calls it once there are names: it adds the earlier notes, then
// later ones may come.
bool ppi_notes_open(ppi_notes *notes);
// After a failed start: the state before it.
void ppi_notes_forget(ppi_notes *notes);
// The collector's: `all` is its own from here on.
void ppi_notes_close(ppi_notes *notes);
// ppi_notes_copy adds those that have come so far to `out`; any thread.
bool ppi_notes_copy(ppi_notes *notes, ppi_texts *out);
void ppi_notes_clear(ppi_notes *notes);

PPROF_END_C_
