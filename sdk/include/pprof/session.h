// SPDX-License-Identifier: Apache-2.0
//
// Sessions: what stands between markers and sinks. One runs per process at a
// time. Most programs use pprof_start and pprof_stop (pprof.h) instead.
//
//   create -> add_sink ... -> start -> (flush) -> stop -> stats -> destroy
//
// Example:
//   pprof_error error = {""};
//   pprof_session *session;
//   pprof_sink *log;
//   if (pprof_session_create(NULL, &session, &error)) return;
//   if (pprof_log_writer_create("run.pplog", &log, &error) == 0 &&
//       pprof_session_add_sink(session, log) == 0 &&
//       pprof_session_start(session) == 0) {
//     train();
//     pprof_session_stop(session, &error);
//   }
//   pprof_session_destroy(session);  // and the log's sink with it
#ifndef PPROF_SESSION_H_
#define PPROF_SESSION_H_

#include "pprof/base.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

typedef struct pprof_session pprof_session;
typedef struct pprof_report pprof_report;  // report.h

// pprof_options is how a session is set up; zero in a field means its default.
typedef struct pprof_options {
  size_t size;                  // sizeof(pprof_options)
  uint64_t memory_limit_bytes;  // of the spool, which begins small; 0: 64 MiB
  // Folder of the spool; it should keep its files in memory, on a disk every
  // write-back makes markers wait. NULL: /dev/shm, else XDG_RUNTIME_DIR.
  const char *spool_dir;
  // How often the collector looks for records, us; 0: 5 000.
  uint32_t drain_interval_us;
  // How long a stop waits for device times and a flush for the sinks, ms; 0:
  // 1 000.
  uint32_t stop_wait_ms;
} pprof_options;

// pprof_stats is what became of every marker. After the stop
//   begun = recorded + lost + excluded
// where begun counts push, range_begin, mark, count, device ranges, steps, and
// each launch of a graph for each range in it. Before, what is open or was not
// delivered yet is missing on the right. Nothing that begins in a closed window
// is counted on either side, nor is a PPROF_SCOPE that the configuration
// excludes, but for its first one after an edge.
typedef struct pprof_stats {
  size_t size;           // sizeof(pprof_stats), set by the caller
  uint64_t recorded;     // ranges, steps, marks, counters, device ranges, each
                         // once
  uint64_t lost;         // not kept: no memory, too deep, interrupted; with
                         // device_lost
  uint64_t excluded;     // not wanted: warm-up, an edge, configuration
  uint64_t unmatched;    // pops without a range, ranges ended twice
  uint64_t abandoned;    // of recorded: never ended by their own code
  uint64_t late;         // of recorded: device times came too late
  uint64_t invalid;      // of recorded: times made no sense, taken as zero
  uint64_t device_lost;  // device ranges for which no event was left
  uint64_t names_overflowed;  // uses of a name that found no room
  uint64_t clipped;           // of recorded: cut at the end of a window
  uint64_t begun_before;      // ends of ranges that a window's edge had cut, or
                              // that began while nothing recorded
  uint64_t flows_lost;        // requests and work amounts without a range, or
                              // beyond what one can name
  uint64_t clock_error_ns;    // largest stated error of a device time
  uint64_t own_cost_ns_per_marker_x1000;  // measured in this process; 1/1000 ns
  uint64_t spool_bytes;                   // memory that the spool has so far
  bool crash_safe;  // false: records are lost if the process is killed
  uint64_t missed;  // of recorded: not delivered to a sink that had no room, of
                    // all sinks together; each has them in its totals
} pprof_stats;

// pprof_session_create makes a session that does not run yet. `options` may be
// NULL: all defaults.
//
// Errors: INVALID: `options->size` is not set, or `options` has non-zero
//         fields that this version does not know; NO_MEMORY.
// Owns:   the caller owns `*out`.
PPROF_API PPROF_NODISCARD pprof_status pprof_session_create(
    const pprof_options *options, pprof_session **out, pprof_error *error)
    PPROF_OFF_(pprof_refuse_(error));

// pprof_session_add_sink makes `sink` receive what is recorded from the start
// on. Sinks are called in the order they were added.
//
// Errors:  BUSY after the start, or with 16 sinks; INVALID: `sink->size` is not
//          set.
// Owns:    takes `sink` on success and destroys it with the session.
// Threads: the owner of `session`.
PPROF_API PPROF_NODISCARD pprof_status
pprof_session_add_sink(pprof_session *session, pprof_sink *sink)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_schedule says which steps (pprof_step) are recorded, in cycles: after
// `skip_first` steps, again and again, `wait` steps that are not, `warmup`
// steps that are recorded and thrown away, and `active` steps that are kept,
// which make a window. Step for step it is Paddle's make_scheduler (closed,
// ready, record) and torch's schedule; docs/capture.md has the rules.
typedef struct pprof_schedule {
  size_t size;  // sizeof(pprof_schedule)
  uint64_t skip_first, wait, warmup;
  uint64_t active;           // at least 1
  uint64_t repeat;           // cycles; 0: for ever
  uint64_t skip_first_wait;  // not 0: the first cycle has no `wait`
} pprof_schedule;

// pprof_schedule_span is the schedule that keeps the steps `from` to `to` - 1,
// [from, to), once, with the step before them as warm-up, as Paddle's tuple
// does. One that holds no step (`to` <= `from`) is refused where it is used.
static inline pprof_schedule pprof_schedule_span(uint64_t from, uint64_t to) {
  pprof_schedule span = {sizeof(pprof_schedule), 0, 0, 0, 0, 1, 0};
  if (from > 0) {
    span.skip_first = from - 1;
    span.warmup = 1;
  }
  if (to > from) span.active = to - from;
  return span;
}

// pprof_session_set_schedule has `session` record the steps that `schedule`
// says instead of all; NULL: all. It replaces what was in force, whoever set
// it: an earlier call, or the configuration that pprof_start read, which comes
// back only where its file changes. While the session runs this is an edge:
// steps count from the session's start, and a window that both rules want goes
// on.
//
// Errors:  INVALID: `schedule->size` is not set, no step is active, or the
//          steps of a cycle overflow; BUSY after the stop.
// Threads: the owner of `session`.
//
// Example:
//   static pprof_status record_steps(pprof_session *session) {
//     pprof_schedule cycles = {sizeof cycles, 0, 1, 1, 3, 2, 0};
//     return pprof_session_set_schedule(session, &cycles);  // 2 windows of 3
//   }
PPROF_API PPROF_NODISCARD pprof_status pprof_session_set_schedule(
    pprof_session *session, const pprof_schedule *schedule)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_window_fn: window `window` is complete: its device times are known, its
// `report` is finished. `report` is borrowed for the call; NULL when memory ran
// out.
typedef void (*pprof_window_fn)(void *user, uint32_t window,
                                const pprof_report *report);

// pprof_session_on_window has `fn` called for each capture window once all that
// began in it is there, in the order of the windows. A slow call delays those
// after it and the stop, nothing else; while 256 windows wait for one, further
// windows get no call (the trust block says so). Figures that come from no
// event, such as `lost`, count while the window is open.
//
// A session of pprof_start's runs when it is there: pprof_start_with takes the
// callback of that one, which gets the window's log, too.
//
// Errors:  BUSY after the start, or with 16 sinks; INVALID; NO_MEMORY.
// Threads: the owner of `session`. `fn` is called on a thread of the library's,
//          never twice at once; starting and stopping a session there answers
//          BUSY. pprof_session_stop returns after the last call.
// Cost:    the report is filled while the window is open.
//
// Example:
//   static void print(void *user, uint32_t window, const pprof_report *report)
//   {
//     FILE *out = (FILE *)user;
//     fprintf(out, "window %u\n", window);
//     if (report && pprof_report_write_table(report, "overview", out))
//       perror("report");
//   }
//   static bool print_windows(pprof_session *session) {
//     return pprof_session_on_window(session, print, stdout) == 0;
//   }
PPROF_API PPROF_NODISCARD pprof_status
pprof_session_on_window(pprof_session *session, pprof_window_fn fn, void *user)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_session_start lets markers record. A session starts once.
//
// Errors:  BUSY while another session runs, when it was started before, or
//          while a thread is still inside a marker that the last stop did not
//          wait for; NO_MEMORY. A sink that fails to begin is detached; stop
//          reports it.
// Threads: the owner of `session`.
// Cost:    takes and touches the memory of the spool; waits up to 200 ms for
//          each log on a disk that does not answer.
PPROF_API PPROF_NODISCARD pprof_status pprof_session_start(
    pprof_session *session) PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_session_flush waits until all host records accepted before the call are
// kept: in every sink, and for a log beyond the life of the process.
//
// Errors: INVALID before the start; BUSY: not done within stop_wait_ms; the
//         first error of a sink.
PPROF_API pprof_status pprof_session_flush(pprof_session *session)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_session_stop ends recording, waits for device times (stop_wait_ms) and
// finishes the sinks. On a session that is stopped or was never started it does
// nothing and answers OK.
//
// A process that ends without it finishes no sink: they are the program's, and
// may be gone by then. (What pprof_start started is finished at `exit`.)
//
// Errors:  the first error of a sink; IO: one has missed records, see
//          pprof_sink.ready. The session is stopped all the same.
// Threads: the owner of `session`.
PPROF_API pprof_status pprof_session_stop(pprof_session *session,
                                          pprof_error *error)
    PPROF_OFF_(pprof_refuse_(error));

// pprof_session_destroy stops `session`, then frees it with its sinks. NULL
// does nothing.
//
// Threads: the owner of `session`.
PPROF_API void pprof_session_destroy(pprof_session *session) PPROF_OFF_();

// pprof_session_stats gives the counts as of the collector's last checkpoint,
// which comes every second, as far as sinks have room, and with a flush. They
// are exact after the stop. Set `out->size` first.
//
// Errors: INVALID: `out->size` is not set.
//
// Example:
//   pprof_stats stats;
//   stats.size = sizeof stats;
//   if (pprof_session_stats(session, &stats) == 0)
//     printf("%llu lost\n", (unsigned long long)stats.lost);
PPROF_API pprof_status pprof_session_stats(pprof_session *session,
                                           pprof_stats *out)
    PPROF_OFF_(PPROF_STATUS_UNAVAILABLE);

// pprof_session_current is the session that runs, also the one pprof_start
// made.
//
// Result: borrowed from its owner; NULL when none runs.
PPROF_API pprof_session *pprof_session_current(void) PPROF_OFF_(PPROF_NULL_);

PPROF_END_C_

#endif  // PPROF_SESSION_H_
