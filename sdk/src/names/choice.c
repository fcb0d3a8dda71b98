// SPDX-License-Identifier: Apache-2.0
//
// Globs, hashes of names and requests, and a session's copy of the choice.
#include "names/choice.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "session/state/choice_state.h"
#include "session/state/session_state.h"
#include "spool/cpu_use.h"

// After a `*` that fails, the text is tried again one character further on;
// only the last one need be.
bool ppi_glob_match(const char *glob, const char *text) {
  const char *star = NULL, *resume = NULL;
  while (*text) {
    if (*glob == '*') {
      star = ++glob;
      resume = text;
    } else if (*glob == '?' || (*glob && *glob == *text)) {
      glob++;
      text++;
      // One character, not one byte.
      while (glob[-1] == '?' && ((unsigned char)*text & 0xc0u) == 0x80u) text++;
    } else if (star) {
      glob = star;
      text = ++resume;
    } else {
      return false;
    }
  }
  while (*glob == '*') glob++;
  return *glob == 0;
}

void ppi_name_hash(const char *name, char out[PPI_NAME_HASH]) {
  uint8_t digest[32];
  ppi_sha256(name, strlen(name), digest);
  out[0] = '#';
  for (size_t i = 0; i < 6; i++)
    snprintf(out + 1 + 2 * i, 3, "%02x", digest[i]);
}

bool ppi_request_is_kept(uint64_t flow, uint64_t every) {
  if (every <= 1) return true;
  // The finalizer of splitmix64: numbers that are addresses spread, too.
  flow ^= flow >> 30;
  flow *= 0xbf58476d1ce4e5b9u;
  flow ^= flow >> 27;
  flow *= 0x94d049bb133111ebu;
  flow ^= flow >> 31;
  return flow % every == 0;
}

static bool matches_any(const char *const *globs, size_t num,
                        const char *name) {
  for (size_t i = 0; i < num; i++)
    if (ppi_glob_match(globs[i], name)) return true;
  return false;
}

bool ppi_choice_wants(const ppi_choice *choice, const char *name,
                      uint32_t category) {
  if (category == PPROF_CATEGORY_PROFILE_STEP) return true;
  if (choice->timer_only && category != PPROF_CATEGORY_DATALOADER) return false;
  if (matches_any(choice->exclude, choice->num_exclude, name)) return false;
  return choice->num_include == 0 ||
         matches_any(choice->include, choice->num_include, name);
}

bool ppi_choice_measures(const ppi_choice *choice, const char *name) {
  return matches_any(choice->cpu, choice->num_cpu, name);
}

bool ppi_choice_shows(const ppi_choice *choice, const char *name) {
  return !choice->hash_names ||
         matches_any(choice->allow, choice->num_allow, name);
}

static size_t size_of(const char *const *globs, size_t num) {
  size_t size = num * sizeof *globs;
  for (size_t i = 0; i < num; i++) size += strlen(globs[i]) + 1;
  return size;
}

// Copies globs to `*places` and their texts to `*texts`, and moves both on.
static const char *const *copy_globs(const char *const *globs, size_t num,
                                     const char ***places, char **texts) {
  const char **copy = *places;
  for (size_t i = 0; i < num; i++) {
    size_t size = strlen(globs[i]) + 1;
    copy[i] = memcpy(*texts, globs[i], size);
    *texts += size;
  }
  *places += num;
  return copy;
}

ppi_choice *ppi_choice_copy(const ppi_choice *from) {
  size_t num =
      from->num_include + from->num_exclude + from->num_allow + from->num_cpu;
  size_t size = size_of(from->include, from->num_include) +
                size_of(from->exclude, from->num_exclude) +
                size_of(from->allow, from->num_allow) +
                size_of(from->cpu, from->num_cpu);
  ppi_choice *copy = ppi_alloc(sizeof *copy + size);
  if (!copy) return NULL;
  *copy = *from;
  const char **places = (const char **)(void *)(copy + 1);
  char *texts = (char *)(places + num);
  copy->include = copy_globs(from->include, from->num_include, &places, &texts);
  copy->exclude = copy_globs(from->exclude, from->num_exclude, &places, &texts);
  copy->allow = copy_globs(from->allow, from->num_allow, &places, &texts);
  copy->cpu = copy_globs(from->cpu, from->num_cpu, &places, &texts);
  return copy;
}

struct ppi_choice_state {
  ppi_choice *choice;
  bool told_missing;  // that the kernel does not tell all of CPU use
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

// What a running session cannot change.
static bool is_fixed_alike(const ppi_choice *a, const ppi_choice *b) {
  return a->timer_only == b->timer_only && a->hash_names == b->hash_names &&
         PPI_MAX(a->requests_every, 1u) == PPI_MAX(b->requests_every, 1u) &&
         same_globs(a->allow, a->num_allow, b->allow, b->num_allow);
}

static void note_what_is_missing(pprof_session *session) {
  char why[256];
  if (session->choice->told_missing || !ppi_cpu_file_check(why, sizeof why))
    return;
  session->choice->told_missing = true;
  ppi_session_note(session, "cpu_run_queue", why);
}

// A copy for the session; the one before goes with success.
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
