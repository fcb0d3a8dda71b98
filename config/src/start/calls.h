// SPDX-License-Identifier: Apache-2.0
//
// The calls of pprof_start and pprof_stop into the folders below.
#pragma once

#include "chrome/chrome.h"
#include "control/control.h"
#include "flight/flight.h"
#include "html/html_log.h"
#include "inject/inject.h"
#include "live/live.h"
#include "log/write/log_writer.h"
#include "names/choice.h"
#include "pprof/pprof.h"
#include "print/report_print.h"
#include "report/report.h"
#include "schema/schema.h"
#include "session/capture/capture_session.h"
#include "session/collect/window_session.h"
#include "session/state/session_impl.h"
#include "waits/waits.h"
#include "window/window_sinks.h"

PPROF_BEGIN_C_

// What they are called here, and what they are.
// clang-format off
#define PPI_COMPOSE_CALLS(each) \
  each(session_current, pprof_session_current) \
  each(session_create, pprof_session_create) \
  each(session_set_capture, ppi_session_set_capture) \
  each(session_set_ring, ppi_session_set_ring) \
  each(session_set_device_mode, ppi_session_set_device_mode) \
  each(session_set_graph_nodes, ppi_session_set_graph_nodes) \
  each(session_set_graph_kernels, ppi_session_set_graph_kernels) \
  each(session_set_device_calls, ppi_session_set_device_calls) \
  each(session_trace_kernels, ppi_session_trace_kernels) \
  each(session_end_kernels, ppi_session_end_kernels) \
  each(session_kernels_traced, ppi_session_kernels_traced) \
  each(set_nvtx, ppi_nvtx_set_options) \
  each(set_waits, ppi_waits_set) \
  each(session_set_info, ppi_session_set_info) \
  each(session_add_sink, pprof_session_add_sink) \
  each(session_add_window_maker, ppi_session_add_window_maker) \
  each(session_on_window, pprof_session_on_window) \
  each(session_demand, ppi_session_demand) \
  each(session_withdraw, ppi_session_withdraw) \
  each(session_note, ppi_session_note) \
  each(session_flush, pprof_session_flush) \
  each(session_start, pprof_session_start) \
  each(session_stop, pprof_session_stop) \
  each(session_destroy, pprof_session_destroy) \
  each(log_writer_create, ppi_log_writer_create) \
  each(log_writer_path, ppi_log_writer_path) \
  each(log_writer_part_path, ppi_log_writer_part_path) \
  each(log_writer_error, ppi_log_writer_error) \
  each(log_writer_note, ppi_log_writer_note) \
  each(flight_create, ppi_flight_create) \
  each(flight_set_rules, ppi_flight_set_rules) \
  each(flight_trigger, ppi_flight_trigger) \
  each(flight_dumped, ppi_flight_dumped) \
  each(chrome_writer_create, pprof_chrome_writer_create) \
  each(chrome_writer_set_disk, ppi_chrome_writer_set_disk) \
  each(chrome_writer_path, ppi_chrome_writer_path) \
  each(chrome_writer_error, ppi_chrome_writer_error) \
  each(report_create, pprof_report_create) \
  each(report_set_details, ppi_report_set_details) \
  each(report_sink, pprof_report_sink) \
  each(report_destroy, pprof_report_destroy) \
  each(report_write, ppi_report_write) \
  each(html_write_log, ppi_html_write_log) \
  each(live_create, ppi_live_create) \
  each(control_start, ppi_control_start)
// clang-format on
#define PPI_COMPOSE_CALL(name, call) __typeof__(&call) name;

// The calls of pprof_start and pprof_stop. Tests replace them to record
// requests and to let each fail; NULL restores the real ones.
typedef struct ppi_compose_calls {
  PPI_COMPOSE_CALLS(PPI_COMPOSE_CALL)
  pprof_status (*session_set_choice)(pprof_session *session,
                                     const ppi_choice *choice);
  pprof_status (*session_set_kernels)(pprof_session *session, bool are_on);
  void (*open_backends)(uint64_t backends);
  uint64_t file_limit_ms;  // time to wait for a table's disk; 0: 10 s
} ppi_compose_calls;
void ppi_compose_set_calls(const ppi_compose_calls *calls);

// The calls in force.
extern const ppi_compose_calls *ppi_running_calls;

PPROF_END_C_
