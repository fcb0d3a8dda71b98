// SPDX-License-Identifier: Apache-2.0
//
// Makes a session's window sinks with the first maker, and counts its lanes for
// them. Counting runs on the collector's thread.
#include <stdio.h>

#include "deliver/totals.h"
#include "device/device_note.h"
#include "session/collect/window_session.h"
#include "session/state/session_state.h"

// Counts by markers themselves; the tally has those of lanes that threads have
// left.
static const ppi_total_key counted[] = {
    PPI_TOTAL_LOST,         PPI_TOTAL_EXCLUDED,    PPI_TOTAL_UNMATCHED,
    PPI_TOTAL_BEGUN_BEFORE, PPI_TOTAL_DEVICE_LOST, PPI_TOTAL_FLOWS_LOST};

static pprof_status count_tally(const ppi_tally *tally, ppi_tally *out) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t lane = 0; lane < tally->num_lanes; lane++)
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
      PPI_THEN(status, ppi_tally_add(out, (uint32_t)lane, counted[i],
                                     tally->lanes[lane][counted[i]]));
  return status;
}

static pprof_status count_lanes(pprof_session *session, ppi_tally *out) {
  uint32_t num = ppi_spool_num_lanes(session->drain.spool);
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i < num && status == PPROF_STATUS_OK; i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (lane) status = ppi_totals_add_lane(out, lane);
  }
  return status;
}

static void count_run(const pprof_session *session, uint64_t *out) {
  const ppi_spool_header *header = session->drain.spool->header;
  out[PPI_TOTAL_NAMES_OVERFLOWED] = ppi_counted(&header->names_overflowed);
  out[PPI_TOTAL_CLAMPED] = session->collect.placed.clamped;
  out[PPI_TOTAL_OWN_COST] = header->own_cost_ns_x1000;
  out[PPI_TOTAL_CRASH_SAFE] = header->crash_safe;
  ppi_cpu_times(&out[PPI_TOTAL_CPU_PROCESS_NS]);
}

static pprof_status count(void *user, ppi_counts *out) {
  pprof_session *session = user;
  count_run(session, out->run);
  pprof_status status = count_tally(&session->drain.tally, &out->lanes);
  if (status == PPROF_STATUS_OK) status = count_lanes(session, &out->lanes);
  PPI_THEN(status, ppi_totals_add_spool(&out->lanes, session->drain.spool));
  return status;
}

static bool note(void *user, ppi_texts *out) {
  pprof_session *session = user;
  if (!ppi_notes_copy(&session->notes, out)) return false;
  ppi_device_notes(out, session->settings.device_mode == PPI_DEVICE_MODE_OFF);
  return true;
}

static void note_skipped(void *user) {
  pprof_session *session = user;
  ppi_notes_add(&session->notes, "windows",
                "some have no report or file of their own: too many waited "
                "for a callback that was slow");
}

static ppi_window_sinks *find_windows(const pprof_session *session) {
  for (size_t i = 0; i < session->tee.num_sinks; i++) {
    ppi_window_sinks *windows = ppi_window_sinks_of(session->tee.sinks[i]);
    if (windows) return windows;
  }
  return NULL;
}

pprof_status ppi_session_windows(pprof_session *session,
                                 ppi_window_sinks **out) {
  if (session->phase != PPI_SESSION_CREATED) return PPROF_STATUS_BUSY;
  if ((*out = find_windows(session))) return PPROF_STATUS_OK;
  ppi_window_source source = {count, note, note_skipped, session};
  ppi_window_sinks *made;
  pprof_status status = ppi_window_sinks_create(&source, &made);
  if (status != PPROF_STATUS_OK) return status;
  pprof_sink *sink = ppi_window_sinks_sink(made);
  status = ppi_tee_add(&session->tee, sink);
  if (status != PPROF_STATUS_OK) {
    sink->destroy(sink);
    return status;
  }
  // No log's end waits for a callback.
  session->tee.finishes_last = session->tee.num_sinks;
  *out = made;
  return PPROF_STATUS_OK;
}

pprof_status ppi_session_add_window_maker(pprof_session *session,
                                          const ppi_window_maker *maker) {
  ppi_window_sinks *windows;
  PPI_TRY(ppi_session_windows(session, &windows));
  return ppi_window_sinks_add(windows, maker);
}

bool ppi_session_awaits_window(const pprof_session *session) {
  const ppi_window_sinks *windows = find_windows(session);
  return windows && ppi_window_sinks_awaits(windows);
}

bool ppi_session_have_room(pprof_session *session) {
  bool all = session->tee.base.ready(&session->tee.base);
  const ppi_window_sinks *windows = find_windows(session);
  return all && (!windows || ppi_window_sinks_have_room(windows));
}

uint64_t ppi_session_num_missed(const pprof_session *session) {
  const ppi_window_sinks *windows = find_windows(session);
  return ppi_tee_num_missed(&session->tee) +
         (windows ? ppi_window_sinks_num_missed(windows) : 0);
}

void ppi_session_note_missed(pprof_session *session) {
  char text[512];
  for (size_t i = 0; i < session->tee.num_sinks; i++)
    if (ppi_tee_describe_missed(&session->tee, i, text, sizeof text))
      ppi_texts_add(&session->notes.all, "missed", text);
  uint64_t num =
      ppi_session_num_missed(session) - ppi_tee_num_missed(&session->tee);
  if (num == 0) return;
  snprintf(text, sizeof text, "sinks of windows: had no room for %llu records",
           (unsigned long long)num);
  ppi_texts_add(&session->notes.all, "missed", text);
}
