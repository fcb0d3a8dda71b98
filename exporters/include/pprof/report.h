// SPDX-License-Identifier: Apache-2.0
//
// The statistics of runs, themselves a sink: of live sessions or of logs. Both
// give the same report, byte for byte. export.h writes it; programs that want
// rows read the JSON.
//
// Example:
//   pprof_report *report;
//   if (pprof_report_create(&report)) return;
//   if (pprof_log_read("run.pplog", pprof_report_sink(report), NULL) == 0 &&
//       pprof_report_write_table(report, "overview,model", stdout))
//     perror("table");
//   pprof_report_destroy(report);
#ifndef PPROF_REPORT_H_
#define PPROF_REPORT_H_

#include "pprof/base.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

typedef struct pprof_report pprof_report;

// pprof_report_create makes an empty report.
//
// Errors: NO_MEMORY.
// Owns:   the caller owns `*out`.
PPROF_API PPROF_NODISCARD pprof_status pprof_report_create(pprof_report **out)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_report_sink is the sink that fills `report`. It takes several runs, one
// after the other: each is added when it finishes, as pprof_report_merge adds a
// report of that run alone. While one is under way, merging and writing answer
// BUSY.
//
// Owns: borrowed until `report` is destroyed, which must outlive the session it
//       was added to; the sink's destroy does nothing.
PPROF_API pprof_sink *pprof_report_sink(pprof_report *report)
    PPROF_OFF_(PPROF_NULL_);

// pprof_report_merge adds the runs of `from` to `into`. The order of merges
// does not change a byte of the result.
//
// Errors:  BUSY: one of the two has no finished run, or one under way; INVALID:
//          they are the same report, or hold different details; NO_MEMORY.
// Threads: the owner of both.
PPROF_API PPROF_NODISCARD pprof_status
pprof_report_merge(pprof_report *into, const pprof_report *from)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_report_destroy frees `report`. NULL does nothing.
//
// Threads: the owner of `report`.
PPROF_API void pprof_report_destroy(pprof_report *report) PPROF_OFF_();

PPROF_END_C_

#endif  // PPROF_REPORT_H_
