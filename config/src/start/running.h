// SPDX-License-Identifier: Apache-2.0
//
// The state that pprof_start makes and pprof_stop ends. Owned by compose.c,
// which has a lock for it; the control thread uses it, too, from launch to
// finish.
#pragma once

#include "log/recover/reclaim.h"
#include "start/calls.h"
#include "start/environment.h"
#include "start/in_code.h"

typedef struct ppi_triggers ppi_triggers;

typedef struct ppi_running {
  ppi_config config;  // at the start; the control thread has later ones
  ppi_in_code in_code;
  pprof_session *session;
  pprof_report *report;   // NULL: no export needs one
  pprof_sink *log;        // the session's; NULL: none
  pprof_sink *flight;     // the session's; NULL: none
  ppi_live *live;         // the session's; NULL: no viewers
  ppi_disk *disk;         // NULL: no limit
  ppi_reclaim *reclaim;   // NULL: there were no leftovers
  bool injected;          // injection started it
  bool unasked;           // a first marker started it, under PPROF_ENABLE=1
  bool adopted;           // the program has started it again since
  bool forked;            // in a process that was forked
  bool reclaims;          // configuration and environment allow reclaim
  bool follows;           // in a forked process that goes on as its parent did
  bool alone;             // the caller follows forks itself
  char folder[PATH_MAX];  // base of relative paths; "": unknown
  char wanted[PATH_MAX];  // the wanted name of the log
  char output[PATH_MAX];
  char log_part[PATH_MAX];  // the log's path until the end
  char flight_output[PATH_MAX];
  char export_paths[PPI_CONFIG_MAX_EXPORTS][PATH_MAX];
  ppi_part export_parts[PPI_CONFIG_MAX_EXPORTS];  // of tables of the run
  pprof_sink *traces[PPI_CONFIG_MAX_EXPORTS];     // of the run, the session's
  // Written by the completion thread, read after the stop.
  pprof_status window_status;
  pprof_error window_error;
  char window_log[PATH_MAX];  // the completion thread's: its current window;
                              // "": none
  // The control thread and what is its own.
  ppi_control *control;
  const ppi_control *former;  // in a forked child, the parent's; else NULL
  ppi_triggers *triggers;
  ppi_environment_copy environment;
  ppi_config *latest;          // NULL: `config` is in force
  char config_path[PATH_MAX];  // "": there was no file
  char touch_path[PATH_MAX];
  char metrics_path[PATH_MAX];  // "": none
  int metrics_fd;               // the control thread's; -1: not opened yet
  ppi_fd_id metrics_id;
} ppi_running;

// The configuration in force: a later one than at the start, if the file was
// read again.
const ppi_config *ppi_running_config(const ppi_running *run);
// Apply the capture rules, or the choice of names, of `config` to the session.
pprof_status ppi_running_set_capture(ppi_running *run,
                                     const ppi_config *config);
pprof_status ppi_running_set_choice(ppi_running *run, const ppi_config *config);
// Gives `sink` to the session, or destroys it.
pprof_status ppi_running_take_sink(ppi_running *run, pprof_sink *sink,
                                   pprof_error *error);
// OK, or "WHAT: the status in words".
pprof_status ppi_running_plain_failure(pprof_error *error, pprof_status status,
                                       const char *what);
