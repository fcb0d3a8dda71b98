// SPDX-License-Identifier: Apache-2.0
//
// Stands where the report would, in programs with tests that ask for none. A
// change of the report does not change these programs, so they need not run
// again. A test that asks for a report has two definitions and does not link.
#include <stdio.h>
#include <stdlib.h>

#define NO_REPORT(call)                                                  \
  __attribute__((noreturn)) void call(void);                             \
  void call(void) {                                                      \
    fprintf(stderr, #call ": this program is linked without reports\n"); \
    abort();                                                             \
  }

// What pprof_start may call.
NO_REPORT(ppi_html_write_log)
NO_REPORT(ppi_peaks_parse)
NO_REPORT(ppi_report_need)
NO_REPORT(ppi_report_set_details)
NO_REPORT(ppi_report_usual_style)
NO_REPORT(ppi_report_write)
NO_REPORT(pprof_report_create)
NO_REPORT(pprof_report_destroy)
NO_REPORT(pprof_report_sink)
NO_REPORT(pprof_session_on_window)
