// SPDX-License-Identifier: Apache-2.0
//
// The real calls, and those that a test puts in their place.
#include "start/calls.h"

#include <pthread.h>

#include "cupti.h"
#include "inject/inject.h"
#include "opencl_layer.h"
#include "rocm.h"
#include "session/choice_session.h"
#include "session/collect/window_session.h"
#include "waits/waits.h"

static void open_backends(uint64_t backends) {
  static const pprof_backend *(*const get[])(void) = {
#define BACKEND(name) pprof_backend_##name,
      PPI_BACKENDS(BACKEND)
#undef BACKEND
  };
  for (size_t i = 0; i < sizeof get / sizeof *get; i++)
    if (backends >> i & 1) pprof_device_get(get[i](), 0);
}

// OpenCL's and ROCm's are there only where their loaders have us; CUPTI by its
// library.
static ppi_kernel_source sources[2];

static void link_sources(void) {
  sources[0] = *ppi_opencl_source();
  sources[0].next = &sources[1];
  sources[1] = *ppi_rocm_source();
  sources[1].next = ppi_cupti_source();
}

static pprof_status set_kernels(pprof_session *session, bool are_on) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, link_sources);
  return ppi_session_set_kernels(session, &sources[0], are_on);
}

static const ppi_compose_calls real_calls = {
    .session_current = pprof_session_current,
    .session_create = pprof_session_create,
    .session_set_capture = ppi_session_set_capture,
    .session_set_choice = ppi_session_set_choice,
    .session_set_ring = ppi_session_set_ring,
    .session_set_device_mode = ppi_session_set_device_mode,
    .session_set_graph_nodes = ppi_session_set_graph_nodes,
    .session_set_kernels = set_kernels,
    .session_set_graph_kernels = ppi_session_set_graph_kernels,
    .session_set_device_calls = ppi_session_set_device_calls,
    .session_trace_kernels = ppi_session_trace_kernels,
    .session_end_kernels = ppi_session_end_kernels,
    .session_kernels_traced = ppi_session_kernels_traced,
    .set_nvtx = ppi_nvtx_set_options,
    .set_waits = ppi_waits_set,
    .session_set_info = ppi_session_set_info,
    .session_add_sink = pprof_session_add_sink,
    .session_add_window_maker = ppi_session_add_window_maker,
    .session_on_window = pprof_session_on_window,
    .session_demand = ppi_session_demand,
    .session_withdraw = ppi_session_withdraw,
    .session_note = ppi_session_note,
    .session_flush = pprof_session_flush,
    .session_start = pprof_session_start,
    .session_stop = pprof_session_stop,
    .session_destroy = pprof_session_destroy,
    .log_writer_create = ppi_log_writer_create,
    .log_writer_path = ppi_log_writer_path,
    .log_writer_part_path = ppi_log_writer_part_path,
    .log_writer_error = ppi_log_writer_error,
    .log_writer_note = ppi_log_writer_note,
    .flight_create = ppi_flight_create,
    .flight_set_rules = ppi_flight_set_rules,
    .flight_trigger = ppi_flight_trigger,
    .flight_dumped = ppi_flight_dumped,
    .chrome_writer_create = pprof_chrome_writer_create,
    .chrome_writer_set_disk = ppi_chrome_writer_set_disk,
    .chrome_writer_path = ppi_chrome_writer_path,
    .chrome_writer_error = ppi_chrome_writer_error,
    .report_create = pprof_report_create,
    .report_set_details = ppi_report_set_details,
    .report_sink = pprof_report_sink,
    .report_destroy = pprof_report_destroy,
    .report_write = ppi_report_write,
    .html_write_log = ppi_html_write_log,
    .live_create = ppi_live_create,
    .open_backends = open_backends,
    .control_start = ppi_control_start,
};
const ppi_compose_calls *ppi_running_calls = &real_calls;

void ppi_compose_set_calls(const ppi_compose_calls *replacement) {
  ppi_running_calls = replacement ? replacement : &real_calls;
}
