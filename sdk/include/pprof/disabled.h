// SPDX-License-Identifier: Apache-2.0
//
// With PPROF_DISABLE: what starts, keeps and prints, as calls that need no
// library. pprof_start and pprof_stop do nothing and answer OK; what would hand
// something out answers UNAVAILABLE and says why. base.h alone includes this
// file, behind its types.
#ifndef PPROF_DISABLED_H_
#define PPROF_DISABLED_H_

#include "pprof/base.h"

#if defined(PPROF_DISABLE) && defined(PPROF_BASE_H_)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stdio.h>

typedef struct pprof_options pprof_options;
typedef struct pprof_report pprof_report;
typedef struct pprof_schedule pprof_schedule;
typedef struct pprof_session pprof_session;
typedef struct pprof_sink pprof_sink;
typedef struct pprof_start_options pprof_start_options;
typedef struct pprof_stats pprof_stats;

// The answer to every call here.
static inline pprof_status pprof_disabled_(pprof_error *error) {
  static const pprof_error text = {"compiled with PPROF_DISABLE"};
  if (error) *error = text;
  return PPROF_STATUS_UNAVAILABLE;
}

static inline const char *pprof_status_string(pprof_status status) {
#define PPROF_STATUS_TEXT_(name, value, text) \
  if (status == PPROF_STATUS_##name) return text;
  PPROF_STATUS_LIST(PPROF_STATUS_TEXT_)
#undef PPROF_STATUS_TEXT_
  return "unknown status";
}
static inline const char *pprof_version(void) {
  return "disabled";
}

// pprof.h
static inline PPROF_NODISCARD pprof_status pprof_start(const char *config_path,
                                                       pprof_error *error) {
  return PPROF_STATUS_OK;
}
static inline PPROF_NODISCARD pprof_status
pprof_start_with(const pprof_start_options *options, pprof_error *error) {
  return PPROF_STATUS_OK;
}
static inline pprof_status pprof_stop(pprof_error *error) {
  if (error) error->text[0] = '\0';
  return PPROF_STATUS_OK;
}

// session.h
static inline PPROF_NODISCARD pprof_status pprof_session_create(
    const pprof_options *options, pprof_session **out, pprof_error *error) {
  return pprof_disabled_(error);
}
static inline PPROF_NODISCARD pprof_status
pprof_session_add_sink(pprof_session *session, pprof_sink *sink) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline PPROF_NODISCARD pprof_status pprof_session_set_schedule(
    pprof_session *session, const pprof_schedule *schedule) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline PPROF_NODISCARD pprof_status pprof_session_on_window(
    pprof_session *session,
    void (*fn)(void *user, uint32_t window, const pprof_report *report),
    void *user) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline PPROF_NODISCARD pprof_status
pprof_session_start(pprof_session *session) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline pprof_status pprof_session_flush(pprof_session *session) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline pprof_status pprof_session_stop(pprof_session *session,
                                              pprof_error *error) {
  return pprof_disabled_(error);
}
static inline void pprof_session_destroy(pprof_session *session) {}
static inline pprof_status pprof_session_stats(pprof_session *session,
                                               pprof_stats *out) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline pprof_session *pprof_session_current(void) {
  return PPROF_NULL_;
}

// report.h
static inline PPROF_NODISCARD pprof_status
pprof_report_create(pprof_report **out) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline pprof_sink *pprof_report_sink(pprof_report *report) {
  return PPROF_NULL_;
}
static inline PPROF_NODISCARD pprof_status
pprof_report_merge(pprof_report *into, const pprof_report *from) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline void pprof_report_destroy(pprof_report *report) {}

// log.h, export.h
static inline PPROF_NODISCARD pprof_status pprof_log_writer_create(
    const char *path, pprof_sink **out, pprof_error *error) {
  return pprof_disabled_(error);
}
static inline PPROF_NODISCARD pprof_status pprof_log_read(const char *path,
                                                          pprof_sink *sink,
                                                          pprof_error *error) {
  return pprof_disabled_(error);
}
static inline PPROF_NODISCARD pprof_status pprof_chrome_writer_create(
    const char *path, pprof_sink **out, pprof_error *error) {
  return pprof_disabled_(error);
}
static inline PPROF_NODISCARD pprof_status pprof_report_write_table(
    const pprof_report *report, const char *views, FILE *out) {
  return PPROF_STATUS_UNAVAILABLE;
}
static inline PPROF_NODISCARD pprof_status pprof_report_write_json(
    const pprof_report *report, const char *views, FILE *out) {
  return pprof_report_write_table(report, views, out);
}
static inline PPROF_NODISCARD pprof_status pprof_report_write_csv(
    const pprof_report *report, const char *views, FILE *out) {
  return pprof_report_write_table(report, views, out);
}

#pragma GCC diagnostic pop

#endif  // PPROF_DISABLE, from base.h

#endif  // PPROF_DISABLED_H_
