// SPDX-License-Identifier: Apache-2.0
//
// The whole of pprof, and the two-line way in: pprof_start, pprof_stop.
//
// Example:
//   pprof_error error;
//   if (pprof_start(NULL, &error)) fprintf(stderr, "%s\n", error.text);
//   train();  // with markers: pprof/mark.h
//   if (pprof_stop(&error)) fprintf(stderr, "%s\n", error.text);
//
// Environment variables override the configuration file. A program with other
// rights than its caller, such as a setuid one, ignores them.
//   PPROF_ENABLE     0: pprof_start does nothing and answers OK. 1: the first
//                    marker does what pprof_start(NULL) does where the program
//                    has called neither that nor pprof_session_start
//   PPROF_CONFIG     path of the configuration (docs/profile-yaml.md)
//   PPROF_OUTPUT     path of the log, default pprof.%h.%p.pplog; %h is the
//                    host, %p the process id
//   PPROF_SET        "key.path=value;..." single settings
//   PPROF_RECLAIM    0: what processes that died have left in memory stays for
//                    `pprof-report recover`, whatever the configuration says
//   PPROF_NVTX       1: pprof_start has the program's NVTX calls recorded, too,
//                    where nobody has set NVTX_INJECTION64_PATH (docs/nvtx.md)
//   PPROF_QUIET      1: nothing is printed at a run's end; else one line says
//                    where the log is, once, where stderr is a terminal
//   PPROF_LOG_LEVEL  messages on stderr; without it the library is silent
#ifndef PPROF_PPROF_H_
#define PPROF_PPROF_H_

#include "pprof/base.h"
#include "pprof/device.h"
#include "pprof/event.h"
#include "pprof/export.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/report.h"
#include "pprof/session.h"

PPROF_BEGIN_C_

// pprof_start starts a session as the configuration at `config_path` says; with
// NULL as PPROF_CONFIG says, else by the defaults: one log of the whole run.
//
// Errors:  CONFIG: the configuration is not valid; `error` says where, nothing
//          was started. IO: it, or a file to be written, cannot be opened.
//          BUSY while another session runs; NO_MEMORY. A session that NVTX
//          injection started, or the first marker of a forked child or under
//          PPROF_ENABLE=1, is no obstacle: it goes on as this one when it is
//          configured the same, else it ends with files of its own.
// Threads: one at a time, pprof_stop included.
PPROF_API PPROF_NODISCARD pprof_status pprof_start(const char *config_path,
                                                   pprof_error *error)
    PPROF_OFF_(PPROF_STATUS_OK);

// pprof_window is a complete capture window, with its device times.
typedef struct pprof_window {
  size_t size;  // sizeof(pprof_window), as the library knows it
  uint32_t index;
  const pprof_report *report;  // its figures; NULL when memory ran out
  // The finished log of this window alone; NULL where none was asked for, by
  // `window_log` or an export, or it could not be written.
  const char *log;
} pprof_window;

// pprof_start_options are settings in code; a field of zero leaves the setting
// to the configuration.
typedef struct pprof_start_options {
  size_t size;              // sizeof(pprof_start_options)
  const char *config_path;  // as pprof_start takes it
  // Replaces `capture` of the file, also when that changes while the program
  // runs. PPROF_SET="capture=..." overrides it.
  const pprof_schedule *schedule;
  // Called for each window; `window` and all in it are borrowed for the call.
  void (*on_window)(void *user, const pprof_window *window);
  void *user;
  // A log of each window alone, beside that of the run: a path with %w, as of
  // an export with `format: log`, `per: window`.
  const char *window_log;
} pprof_start_options;

// pprof_start_with is pprof_start for a program that decides in code when to
// record, and that gets each window. The environment overrides `options`, which
// override the file. `on_window` is called as by pprof_session_on_window, for
// windows of this process: forked children keep the schedule and the logs, and
// call nothing.
//
// Errors:  as pprof_start; INVALID: `options->size` is not set, or the schedule
//          is none; CONFIG: `window_log` is no path with %w. A session that
//          injection started is ended where `on_window` is given.
// Threads: one at a time, pprof_start and pprof_stop included; `on_window`
//          runs on a thread of the library's. pprof_stop returns after the
//          last call; in one, starting and stopping answer BUSY.
//
// Example:
//   static void say(void *user, const pprof_window *window) {
//     FILE *out = (FILE *)user;
//     fprintf(out, "window %u is in %s\n", window->index, window->log);
//   }
//   static pprof_status begin(void) {
//     pprof_schedule cycles = {sizeof cycles, 0, 1, 1, 3, 2, 0};
//     pprof_start_options options = {
//         sizeof options, NULL, &cycles, say, stdout, "run.%w.pplog"};
//     return pprof_start_with(&options, NULL);
//   }
PPROF_API PPROF_NODISCARD pprof_status
pprof_start_with(const pprof_start_options *options, pprof_error *error)
    PPROF_OFF_(PPROF_STATUS_OK);

// pprof_stop stops the session of pprof_start and finishes its files. With
// nothing started it answers OK. On success `error` is "", or states that the
// log has another name than was asked for, because that was taken.
//
// Without it the end of the process stops, by `exit` or a return from `main`:
// behind the program's atexit handlers, for `exit_wait` of the configuration at
// most (5 s; 0us: not at all). What ends otherwise (_exit, quick_exit, a
// signal, exec) leaves a .part for `pprof-report recover`. A forked child's end
// does nothing to its parent's session. A child goes on into files of its own,
// from its first marker on, and that is what its stop stops; `fork: off`
// switches it off.
//
// Errors:  the first error of a file; the session is stopped all the same. In a
//          forked child that could not go on, once: why its start failed, or
//          UNAVAILABLE with `fork: off`.
// Threads: one at a time, pprof_start included.
PPROF_API pprof_status pprof_stop(pprof_error *error)
    PPROF_OFF_(pprof_accept_(error));

PPROF_END_C_

#endif  // PPROF_PPROF_H_
