// SPDX-License-Identifier: Apache-2.0
//
// Keeps a session's own copy of the choice, from its creation to its end.
#include "session/choice_session.h"

#include "base/mem.h"
#include "session/capture/capture_session.h"

struct ppi_choice_state {
  ppi_choice *choice;
  bool reported_missing;  // that the kernel does not report all CPU use
};

void ppi_choice_destroy(ppi_choice_state *state) {
  if (!state) return;
  ppi_free(state->choice);
  ppi_free(state);
}

pprof_status ppi_choice_begin(const ppi_choice_state *state, ppi_names *names,
                              ppi_spool_header *header) {
  if (!state) return PPROF_STATUS_OK;
  header->requests_every = state->choice->requests_every;
  header->timer_only = state->choice->timer_only;
  return ppi_names_choose(names, state->choice);
}

static bool same_globs(const char *const *a, size_t num_a, const char *const *b,
                       size_t num_b) {
  if (num_a != num_b) return false;
  for (size_t i = 0; i < num_a; i++)
    if (strcmp(a[i], b[i]) != 0) return false;
  return true;
}

// The part that a running session cannot change.
static bool is_fixed_alike(const ppi_choice *a, const ppi_choice *b) {
  return a->timer_only == b->timer_only && a->hash_names == b->hash_names &&
         PPI_MAX(a->requests_every, 1u) == PPI_MAX(b->requests_every, 1u) &&
         a->fold == b->fold &&
         same_globs(a->keep, a->num_keep, b->keep, b->num_keep) &&
         same_globs(a->shapes, a->num_shapes, b->shapes, b->num_shapes) &&
         same_globs(a->allow, a->num_allow, b->allow, b->num_allow);
}

static void note_what_is_missing(pprof_session *session) {
  char why[256];
  if (session->choice->reported_missing || !ppi_cpu_file_check(why, sizeof why))
    return;
  session->choice->reported_missing = true;
  ppi_notes_add(&session->notes, "cpu_run_queue", why);
}

// Copies the choice for the session; on success, the old copy goes.
static pprof_status keep(pprof_session *session, const ppi_choice *choice) {
  ppi_choice *copy = ppi_choice_copy(choice);
  if (!copy) return PPROF_STATUS_NO_MEMORY;
  if (!session->choice) session->choice = ppi_alloc(sizeof *session->choice);
  if (!session->choice) {
    ppi_free(copy);
    return PPROF_STATUS_NO_MEMORY;
  }
  ppi_free(session->choice->choice);
  session->choice->choice = copy;
  if (choice->num_cpu) note_what_is_missing(session);
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_set_choice(pprof_session *session,
                                    const ppi_choice *choice) {
  static const ppi_choice everything;
  if (session->phase == PPI_SESSION_STOPPED) return PPROF_STATUS_BUSY;
  if (session->phase == PPI_SESSION_CREATED) return keep(session, choice);
  const ppi_choice *now =
      session->choice ? session->choice->choice : &everything;
  if (!is_fixed_alike(now, choice)) return PPROF_STATUS_INVALID;
  pprof_status status = keep(session, choice);
  if (status == PPROF_STATUS_OK)
    status =
        ppi_names_choose(ppi_recorder_in_force.names, session->choice->choice);
  return status == PPROF_STATUS_OK ? ppi_session_new_epoch(session) : status;
}
