// SPDX-License-Identifier: Apache-2.0
//
// Notes lie in the session for its totals, and in the spool for recover.
#include "session/state/notes.h"

// A configuration that is read again each minute for weeks fills neither memory
// nor the spool's room for names.
enum { MAX_NOTES = 1000 };

static bool add(pprof_session *session, const char *key, const char *text) {
  ppi_names_text(ppi_recorder_in_force.names, PPI_DEFINITION_NOTE, key, text);
  return ppi_texts_add(&session->notes, key, text);
}

static bool copy(const ppi_texts *from, ppi_texts *out) {
  for (size_t i = 0; i < from->num; i++)
    if (!ppi_texts_add(out, from->items[i].key, from->items[i].value))
      return false;
  return true;
}

bool ppi_notes_open(pprof_session *session) {
  const char *reason = ppi_recorder_in_force.spool.not_crash_safe;
  pthread_mutex_lock(&session->notes_mutex);
  session->notes_state = PPI_NOTES_OPEN;
  bool done = !reason[0] || add(session, "not_crash_safe", reason);
  const ppi_texts *early = &session->extra_notes;
  for (size_t i = 0; done && i < early->num; i++)
    done = add(session, early->items[i].key, early->items[i].value);
  pthread_mutex_unlock(&session->notes_mutex);
  return done;
}

void ppi_notes_close(pprof_session *session) {
  pthread_mutex_lock(&session->notes_mutex);
  session->notes_state = PPI_NOTES_CLOSED;
  pthread_mutex_unlock(&session->notes_mutex);
}

void ppi_notes_forget(pprof_session *session) {
  pthread_mutex_lock(&session->notes_mutex);
  session->notes_state = PPI_NOTES_EARLY;
  ppi_texts_clear(&session->notes);
  pthread_mutex_unlock(&session->notes_mutex);
}

bool ppi_notes_copy(pprof_session *session, ppi_texts *out) {
  pthread_mutex_lock(&session->notes_mutex);
  bool done = copy(&session->notes, out);
  pthread_mutex_unlock(&session->notes_mutex);
  return done;
}

// Without memory for it a note is no reason to fail.
void ppi_session_note(pprof_session *session, const char *key,
                      const char *text) {
  pthread_mutex_lock(&session->notes_mutex);
  if (session->notes_state == PPI_NOTES_OPEN && session->notes.num < MAX_NOTES)
    add(session, key, text);
  else if (session->notes_state == PPI_NOTES_EARLY &&
           session->extra_notes.num < MAX_NOTES)
    ppi_texts_add(&session->extra_notes, key, text);
  pthread_mutex_unlock(&session->notes_mutex);
}
