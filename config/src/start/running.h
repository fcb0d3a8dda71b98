// SPDX-License-Identifier: Apache-2.0
//
// What pprof_start made and pprof_stop ends. Owned by compose.c, which has a
// lock for it; the control thread sees it, too, from launch to finish.
#pragma once

#include <limits.h>

#include "file/part.h"
#include "log/recover/reclaim.h"
#include "start/calls.h"
#include "start/environment.h"
#include "start/in_code.h"

PPROF_BEGIN_C_

typedef struct ppi_triggers ppi_triggers;

typedef struct ppi_running {
  ppi_config config;  // at the start; later ones are the control thread's
  ppi_in_code in_code;
  pprof_session *session;
  pprof_report *report;   // NULL: no export needs one
  pprof_sink *log;        // the session's; NULL: none
  pprof_sink *flight;     // the same
  ppi_live *live;         // the same; NULL: nobody can look
  ppi_disk *disk;         // NULL: no limit
  ppi_reclaim *reclaim;   // NULL: nothing was left to be taken away
  bool injected;          // injection started it
  bool unasked;           // the same: a first marker, under PPROF_ENABLE=1
  bool adopted;           // and the program has started it again since
  bool forked;            // in a process that was forked
  bool reclaims;          // configuration and environment let it
  bool follows;           // the same, and goes on as its parent did
  bool alone;             // forks are its caller's to follow
  char folder[PATH_MAX];  // that relative paths begin in; "": unknown
  char wanted[PATH_MAX];  // what the log is to be called, where it can
  char output[PATH_MAX];
  char log_part[PATH_MAX];  // where the log is until the end
  char flight_output[PATH_MAX];
  char export_paths[PPI_CONFIG_MAX_EXPORTS][PATH_MAX];
  ppi_part export_parts[PPI_CONFIG_MAX_EXPORTS];  // of tables of the run
  pprof_sink *traces[PPI_CONFIG_MAX_EXPORTS];     // of the run, the session's
  // Written by the completion thread, read after the stop.
  pprof_status window_status;
  pprof_error window_error;
  char window_log[PATH_MAX];  // the completion thread's: of the window that it
                              // is at; "": none
  // The control thread and what is its own.
  ppi_control *control;
  const ppi_control *former;  // in a forked child its parent's; or NULL
  ppi_triggers *triggers;
  ppi_environment_copy environment;
  ppi_config *latest;          // NULL: `config` is in force
  char config_path[PATH_MAX];  // "": there was no file
  char touch_path[PATH_MAX];
  char metrics_path[PATH_MAX];  // "": none
  int metrics_fd;               // the control thread's; -1: not looked at yet
  ppi_fd_id metrics_id;
} ppi_running;

// The configuration in force: a later one than at the start, if it was read
// again.
const ppi_config *ppi_running_config(const ppi_running *run);
// Sets in the session what `config` says of them.
pprof_status ppi_running_set_capture(ppi_running *run,
                                     const ppi_config *config);
pprof_status ppi_running_set_choice(ppi_running *run, const ppi_config *config);
// Gives `sink` to the session, or destroys it.
pprof_status ppi_running_take_sink(ppi_running *run, pprof_sink *sink,
                                   pprof_error *error);
// OK, or "WHAT: the status in words".
pprof_status ppi_running_plain_failure(pprof_error *error, pprof_status status,
                                       const char *what);

PPROF_END_C_
