// SPDX-License-Identifier: Apache-2.0
//
// An instrumented program for PPROF_DISABLE, compiled as C and as C++ by
// disable_test.sh and linked without the library: a marker that needs a symbol
// of it does not link. It answers 0 when every marker answers nothing.
#include <string.h>

#include "markers.h"
#include "pprof/pprof.h"

// What starts and keeps: pprof_start and pprof_stop succeed, the rest says that
// it is not there.
static int sessions(void) {
  pprof_error why = {"before"};
  pprof_session *session = NULL;
  pprof_sink *sink = NULL;
  pprof_report *report = NULL;
  if (pprof_start("nowhere.yaml", &why) || strcmp(why.text, "before") != 0)
    return 10;
  if (pprof_stop(&why) || why.text[0] || pprof_session_current()) return 11;
  if (pprof_session_create(NULL, &session, &why) != PPROF_STATUS_UNAVAILABLE)
    return 12;
  if (session || strcmp(why.text, "compiled with PPROF_DISABLE") != 0)
    return 13;
  if (!pprof_log_writer_create("x.pplog", &sink, NULL) || sink) return 14;
  if (!pprof_report_create(&report) || report) return 15;
  pprof_report_destroy(report);
  pprof_schedule steps = pprof_schedule_span(1, 2);
  pprof_start_options options = {sizeof options, NULL, &steps,
                                 NULL,           NULL, NULL};
  if (pprof_start_with(&options, NULL)) return 17;
  if (!pprof_session_set_schedule(session, &steps)) return 18;
  pprof_session_destroy(session);
  return strcmp(pprof_status_string(PPROF_STATUS_BUSY),
                "already running, or not ready yet")
             ? 16
             : 0;
}

int main(void) {
  pprof_error why = {""};
  pprof_device *device = pprof_device_get(pprof_backend_opencl(), 0);
  if (device || pprof_device_available(device, &why)) return 1;
  if (strcmp(why.text, "compiled with PPROF_DISABLE") != 0) return 2;
  if (pprof_backend_cuda() || pprof_backend_hip()) return 3;
  if (pprof_category_register("mine") != PPROF_CATEGORY_USER_DEFINED) return 4;
  if (pprof_range_begin(&markers_file_site).id != 0) return 5;
  if (markers_all()) return 6;
  return sessions();
}
