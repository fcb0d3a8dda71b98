// SPDX-License-Identifier: Apache-2.0
//
// Keeps notes in the session for its totals, and in the spool for recover.
#include "session/state/notes.h"

#include "mark/recorder.h"

// A configuration that is read again each minute for weeks fills neither memory
// nor the spool's room for names.
enum { MAX_NOTES = 1000 };

static bool add_note(ppi_notes *notes, const char *key, const char *text) {
  ppi_names_text(ppi_recorder_in_force.names, PPI_DEFINITION_NOTE, key, text);
  return ppi_texts_add(&notes->all, key, text);
}

void ppi_notes_init(ppi_notes *notes) {
  pthread_mutex_init(&notes->mutex, NULL);
}

void ppi_notes_in_forked_child(ppi_notes *notes) {
  ppi_notes_init(notes);
  notes->state = PPI_NOTES_CLOSED;
}

bool ppi_notes_open(ppi_notes *notes) {
  const char *reason = ppi_recorder_in_force.spool.not_crash_safe;
  pthread_mutex_lock(&notes->mutex);
  notes->state = PPI_NOTES_OPEN;
  bool done = !reason[0] || add_note(notes, "not_crash_safe", reason);
  const ppi_texts *early = &notes->early;
  for (size_t i = 0; done && i < early->num; i++)
    done = add_note(notes, early->items[i].key, early->items[i].value);
  pthread_mutex_unlock(&notes->mutex);
  return done;
}

void ppi_notes_close(ppi_notes *notes) {
  pthread_mutex_lock(&notes->mutex);
  notes->state = PPI_NOTES_CLOSED;
  pthread_mutex_unlock(&notes->mutex);
}

void ppi_notes_forget(ppi_notes *notes) {
  pthread_mutex_lock(&notes->mutex);
  notes->state = PPI_NOTES_EARLY;
  ppi_texts_clear(&notes->all);
  pthread_mutex_unlock(&notes->mutex);
}

bool ppi_notes_copy(ppi_notes *notes, ppi_texts *out) {
  pthread_mutex_lock(&notes->mutex);
  bool done = ppi_texts_join(out, notes->all.items, notes->all.num);
  pthread_mutex_unlock(&notes->mutex);
  return done;
}

// A note without memory is dropped: that is no reason to fail.
void ppi_notes_add(ppi_notes *notes, const char *key, const char *text) {
  pthread_mutex_lock(&notes->mutex);
  if (notes->state == PPI_NOTES_OPEN && notes->all.num < MAX_NOTES)
    add_note(notes, key, text);
  else if (notes->state == PPI_NOTES_EARLY && notes->early.num < MAX_NOTES)
    ppi_texts_add(&notes->early, key, text);
  pthread_mutex_unlock(&notes->mutex);
}

void ppi_notes_clear(ppi_notes *notes) {
  ppi_texts_clear(&notes->early);
  ppi_texts_clear(&notes->all);
}
