// SPDX-License-Identifier: Apache-2.0
//
// Implements pprof_session_on_window: one report of each window for all
// listeners.
#include "base/mem.h"
#include "base/uncancelled.h"
#include "report/report.h"
#include "session/collect/window_session.h"
#include "window/window_queue.h"
#include "window/window_sinks.h"

typedef struct listener {
  pprof_window_fn fn;
  void *user;
} listener;

typedef struct listeners {
  ppi_window_sinks *windows;
  listener *items;
  size_t num, capacity;
} listeners;

static pprof_sink *open_report(void *user, uint32_t window) {
  const listeners *all = user;
  pprof_report *report = NULL;
  pprof_status status = pprof_report_create(&report);
  (void)window;
  const ppi_report_details details = {.requests = true, .warmup = -1};
  if (status == PPROF_STATUS_OK) ppi_report_set_details(report, &details);
  if (status != PPROF_STATUS_OK) ppi_window_sinks_fail(all->windows, status);
  return pprof_report_sink(report);
}

// The sink is a report's first member.
static void notify_listeners(void *user, uint32_t window, pprof_sink *sink,
                             pprof_status status) {
  const listeners *all = user;
  pprof_report *report = (pprof_report *)(void *)sink;
  bool is_whole = report && status == PPROF_STATUS_OK;
  for (size_t i = 0; i < all->num && ppi_window_completing(); i++)
    all->items[i].fn(all->items[i].user, window, is_whole ? report : NULL);
  pprof_report_destroy(report);
}

static void destroy_listeners(void *user) {
  listeners *all = user;
  ppi_free(all->items);
  ppi_free(all);
}

static pprof_status make_listeners(ppi_window_sinks *windows, listeners **out) {
  listeners *all = ppi_alloc(sizeof *all);
  if (!all) return PPROF_STATUS_NO_MEMORY;
  all->windows = windows;
  ppi_window_maker maker = {open_report, notify_listeners, destroy_listeners,
                            all, NULL};
  pprof_status status = ppi_window_sinks_add(windows, &maker);
  if (status == PPROF_STATUS_OK)
    *out = all;
  else
    ppi_free(all);
  return status;
}

pprof_status pprof_session_on_window(pprof_session *session, pprof_window_fn fn,
                                     void *user) {
  PPI_UNCANCELLED;
  if (!session || !fn) return PPROF_STATUS_INVALID;
  ppi_window_sinks *windows;
  pprof_status status = ppi_session_windows(session, &windows);
  if (status != PPROF_STATUS_OK) return status;
  listeners *all = ppi_window_sinks_user(windows, notify_listeners);
  if (!all) status = make_listeners(windows, &all);
  if (status != PPROF_STATUS_OK) return status;
  if (!PPI_PUSH(all->items, all->num, all->capacity, (listener){fn, user}))
    return PPROF_STATUS_NO_MEMORY;
  return PPROF_STATUS_OK;
}
