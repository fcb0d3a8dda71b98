// SPDX-License-Identifier: Apache-2.0
//
// What pprof_start and pprof_stop call of the folders below.
#pragma once

#include "chrome/chrome.h"
#include "control/control.h"
#include "flight/flight.h"
#include "html/html_log.h"
#include "live/live.h"
#include "log/write/log_writer.h"
#include "names/choice.h"
#include "pprof/pprof.h"
#include "print/report_print.h"
#include "report/report.h"
#include "schema/schema.h"
#include "session/capture/capture_session.h"
#include "session/state/session_impl.h"
#include "window/window_sinks.h"

PPROF_BEGIN_C_

// What pprof_start and pprof_stop call. Tests put others in their place to see
// what is asked of them and to let each fail; NULL restores the real ones.
typedef struct ppi_compose_calls {
  pprof_session *(*session_current)(void);
  pprof_status (*session_create)(const pprof_options *options,
                                 pprof_session **out, pprof_error *error);
  pprof_status (*session_set_capture)(pprof_session *session,
                                      const ppi_capture *capture);
  pprof_status (*session_set_choice)(pprof_session *session,
                                     const ppi_choice *choice);
  pprof_status (*session_set_ring)(pprof_session *session, uint64_t bytes);
  pprof_status (*session_set_device_mode)(pprof_session *session,
                                          ppi_device_mode mode);
  pprof_status (*session_set_kernels)(pprof_session *session, bool are_on);
  pprof_status (*session_set_graph_kernels)(pprof_session *session,
                                            bool by_capture);
  pprof_status (*session_set_device_calls)(pprof_session *session, bool all);
  pprof_status (*session_trace_kernels)(pprof_session *session, uint64_t ns,
                                        pprof_error *error);
  void (*session_end_kernels)(pprof_session *session);
  bool (*session_kernels_traced)(const pprof_session *session,
                                 pprof_status *out, pprof_error *why);
  pprof_status (*session_set_graph_nodes)(pprof_session *session,
                                          bool external);
  void (*set_nvtx)(const ppi_nvtx_options *options);
  void (*set_waits)(bool on, bool idle);
  pprof_status (*session_set_info)(pprof_session *session, const char *key,
                                   const char *value);
  pprof_status (*session_add_sink)(pprof_session *session, pprof_sink *sink);
  pprof_status (*session_add_window_maker)(pprof_session *session,
                                           const ppi_window_maker *maker);
  pprof_status (*session_on_window)(pprof_session *session, pprof_window_fn fn,
                                    void *user);
  pprof_status (*session_demand)(pprof_session *session,
                                 const ppi_demand *demand,
                                 uint32_t *out_window);
  bool (*session_withdraw)(pprof_session *session);
  void (*session_note)(pprof_session *session, const char *key,
                       const char *text);
  pprof_status (*session_flush)(pprof_session *session);
  pprof_status (*session_start)(pprof_session *session);
  pprof_status (*session_stop)(pprof_session *session, pprof_error *error);
  void (*session_destroy)(pprof_session *session);
  pprof_status (*log_writer_create)(const char *path,
                                    const ppi_log_rotation *rotation,
                                    pprof_sink **out, pprof_error *error);
  const char *(*log_writer_path)(const pprof_sink *sink);
  const char *(*log_writer_part_path)(const pprof_sink *sink);
  const char *(*log_writer_error)(const pprof_sink *sink);
  const char *(*log_writer_note)(const pprof_sink *sink);
  pprof_status (*flight_create)(const ppi_flight_options *options,
                                pprof_sink **out, pprof_error *error);
  pprof_status (*flight_set_rules)(pprof_sink *sink, const ppi_rule *rules,
                                   size_t num_rules, uint64_t every_ns,
                                   uint64_t limit);
  pprof_status (*flight_trigger)(pprof_sink *sink, const char *path,
                                 char *out_path, size_t size);
  bool (*flight_dumped)(pprof_sink *sink, const char *out_path,
                        pprof_status *out_status);
  pprof_status (*chrome_writer_create)(const char *path, pprof_sink **out,
                                       pprof_error *error);
  void (*chrome_writer_set_disk)(pprof_sink *sink, ppi_disk *disk);
  const char *(*chrome_writer_path)(const pprof_sink *sink);
  int (*chrome_writer_error)(const pprof_sink *sink);
  pprof_status (*report_create)(pprof_report **out);
  void (*report_set_details)(pprof_report *report,
                             const ppi_report_details *details);
  pprof_sink *(*report_sink)(pprof_report *report);
  void (*report_destroy)(pprof_report *report);
  pprof_status (*report_write)(const pprof_report *report,
                               const ppi_report_options *options,
                               ppi_report_format format, FILE *out);
  pprof_status (*html_write_log)(const char *path, FILE *out,
                                 pprof_error *error);
  uint64_t file_limit_ms;  // how long a table's disk is waited for; 0: 10 s
  pprof_status (*live_create)(const ppi_live_options *options, ppi_live **out);
  void (*open_backends)(uint64_t backends);
  pprof_status (*control_start)(const ppi_control_options *options,
                                const ppi_control_actions *actions,
                                ppi_control **out, pprof_error *error);
} ppi_compose_calls;
void ppi_compose_set_calls(const ppi_compose_calls *calls);

// The calls in force.
extern const ppi_compose_calls *ppi_running_calls;

PPROF_END_C_
