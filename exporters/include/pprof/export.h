// SPDX-License-Identifier: Apache-2.0
//
// Output for other programs: Chrome traces of events; tables, JSON and CSV of
// reports.
//
// The three report writers take `views`, names joined by commas such as
// "overview,model", or NULL for all. Their common errors: BUSY: the report's
// run is not finished; INVALID: an unknown view; IO: `out` cannot be written;
// NO_MEMORY. `out` stays open. Threads: the owner of `report`.
#ifndef PPROF_EXPORT_H_
#define PPROF_EXPORT_H_

#include <stdio.h>

#include "pprof/base.h"
#include "pprof/event.h"
#include "pprof/report.h"

PPROF_BEGIN_C_

// pprof_chrome_writer_create makes a sink that writes a Chrome trace (for
// Perfetto or chrome://tracing) to `path`, compressed if the name ends in
// ".gz". Unlike a log, the trace finally replaces a file of that name. In a
// session its own thread writes the file, and opens a pipe, which waits for its
// reader. The stop waits 10 s for that thread; events without room meanwhile
// (see pprof_sink.ready) are counted. From a log the reader waits.
//
// Errors: IO: the file cannot be made; NO_MEMORY.
// Owns:   the caller owns `*out`, until a session takes it.
//
// Example:
//   pprof_sink *trace;  // of a log that is there already
//   if (pprof_chrome_writer_create("run.json.gz", &trace, NULL)) return;
//   if (pprof_log_read("run.pplog", trace, NULL)) puts("not all was read");
//   trace->destroy(trace);
PPROF_API PPROF_NODISCARD pprof_status pprof_chrome_writer_create(
    const char *path, pprof_sink **out, pprof_error *error)
    PPROF_OFF_(pprof_refuse_(error));

// pprof_report_write_table writes the views as text tables, each with the base
// of its ratios, and the trust block below.
//
// Units: milliseconds.
PPROF_API PPROF_NODISCARD pprof_status pprof_report_write_table(
    const pprof_report *report, const char *views, FILE *out)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_report_write_json writes the views as one JSON object, schema
// "pprof.report/1".
//
// Units: integer ns.
PPROF_API PPROF_NODISCARD pprof_status pprof_report_write_json(
    const pprof_report *report, const char *views, FILE *out)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_report_write_csv writes the views with the columns of the JSON, the
// unit appended to the name of a column.
//
// Units: integer ns.
PPROF_API PPROF_NODISCARD pprof_status
pprof_report_write_csv(const pprof_report *report, const char *views, FILE *out)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

PPROF_END_C_

#endif  // PPROF_EXPORT_H_
