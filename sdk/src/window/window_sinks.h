// SPDX-License-Identifier: Apache-2.0
//
// A sink that gives each capture window sinks of its own: its events, its
// checkpoints, its totals. They are fed by the collector; once the window is
// complete, one thread of ours finishes them and calls whoever made them, in
// the order of the windows.
#pragma once

#include "event/texts.h"
#include "window/window_types.h"

PPROF_BEGIN_C_

// Windows that are incomplete, or not handed to their makers yet. Further
// windows are skipped: they get no sinks.
#define PPI_MAX_WINDOWS_WAITING 256u

// Counts that are not in a window's events; each may be NULL. Collector's
// thread.
typedef struct ppi_window_source {
  pprof_status (*count)(void *user, ppi_counts *out);  // into an empty one
  // Adds the notes that a window's totals have; false: out of memory.
  bool (*note)(void *user, ppi_texts *out);
  // For the first time there is no room for a window.
  void (*skipped)(void *user);
  void *user;
} ppi_window_source;

typedef struct ppi_window_sinks ppi_window_sinks;

// `source` may be NULL. The sink is destroyed as sinks are.
pprof_status ppi_window_sinks_create(const ppi_window_source *source,
                                     ppi_window_sinks **out);
pprof_sink *ppi_window_sinks_sink(ppi_window_sinks *windows);
// NULL: `sink` is another kind of sink.
ppi_window_sinks *ppi_window_sinks_of(pprof_sink *sink);
// Before begin. BUSY: no room; the maker stays the caller's.
pprof_status ppi_window_sinks_add(ppi_window_sinks *windows,
                                  const ppi_window_maker *maker);
// The `user` of the maker with this `complete`, NULL when there is none.
void *ppi_window_sinks_user(const ppi_window_sinks *windows,
                            void (*complete)(void *, uint32_t, pprof_sink *,
                                             pprof_status));
// Reported at finish, unless there was an earlier error. Any thread.
void ppi_window_sinks_fail(ppi_window_sinks *windows, pprof_status status);
// A window has closed without a checkpoint since: an early one is likely to
// complete it. Collector's thread.
bool ppi_window_sinks_awaits(const ppi_window_sinks *windows);
// Whether all had room when asked last, and the number of records that they
// have missed. Collector's thread.
bool ppi_window_sinks_have_room(const ppi_window_sinks *windows);
uint64_t ppi_window_sinks_num_missed(const ppi_window_sinks *windows);

PPROF_END_C_
