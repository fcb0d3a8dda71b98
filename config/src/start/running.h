// SPDX-License-Identifier: Apache-2.0
//
// What pprof_start made and pprof_stop ends. Owned by compose.c, which calls
// all of this under its lock; the control thread sees it, too, from launch to
// finish.
#ifndef PPI_RUNNING_H_
#define PPI_RUNNING_H_

#include <limits.h>

#include "file/part.h"
#include "log/recover/reclaim.h"
#include "start/compose.h"
#include "start/environment.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_triggers ppi_triggers;

typedef struct ppi_running {
  ppi_config config;  // at the start; later ones are the control thread's
  pprof_session *session;
  pprof_report *report;   // NULL: no export needs one
  pprof_sink *log;        // the session's; NULL: none
  pprof_sink *flight;     // the same
  ppi_disk *disk;         // NULL: no limit
  ppi_reclaim *reclaim;   // NULL: nothing was left to be taken away
  bool injected;          // injection started it
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
  // The control thread and what is its own.
  ppi_control *control;
  ppi_triggers *triggers;
  ppi_environment_copy environment;
  ppi_config *latest;          // NULL: `config` is in force
  char config_path[PATH_MAX];  // "": there was no file
  char touch_path[PATH_MAX];
} ppi_running;

// The calls in force; see ppi_compose_set_calls.
extern const ppi_compose_calls *ppi_running_calls;

// ppi_running_prepare fills in config and paths; no file is made.
pprof_status ppi_running_prepare(ppi_running *run, const char *config_path,
                                 pprof_error *error);
// ppi_running_prepare_child does so in a forked child that goes on as `parents`
// did: in the folder where that started, with its process id in the files'
// names.
pprof_status ppi_running_prepare_child(ppi_running *run,
                                       const ppi_running *parents,
                                       pprof_error *error);
// ppi_running_launch starts the session. After a failure destroy what there is.
pprof_status ppi_running_launch(ppi_running *run, pprof_error *error);
// ppi_running_finish stops the session, writes the exports and destroys `run`.
pprof_status ppi_running_finish(ppi_running *run, pprof_error *error);
void ppi_running_destroy(ppi_running *run);
// In a forked child: closes what it has of the parent's.
void ppi_running_in_forked_child(ppi_running *run);
// Whether both were asked for the same.
bool ppi_running_is_same(const ppi_running *a, const ppi_running *b);
// Tells the session what `config` says of them.
pprof_status ppi_running_set_capture(ppi_running *run,
                                     const ppi_config *config);
pprof_status ppi_running_set_choice(ppi_running *run, const ppi_config *config);
// Gives `sink` to the session, or destroys it.
pprof_status ppi_running_take_sink(ppi_running *run, pprof_sink *sink,
                                   pprof_error *error);
// OK, or "WHAT: the status in words".
pprof_status ppi_running_plain_failure(pprof_error *error, pprof_status status,
                                       const char *what);

// running_paths.c
pprof_status ppi_running_expand_paths(ppi_running *run, const char *config_path,
                                      pprof_error *error);
// A writer has made its file `own` instead, with a number: `path` is another
// run's.
void ppi_running_note_path(char path[PATH_MAX], const char *own);
// Renames what injection's run `ended` has left under a name that `next` is
// about to write.
void ppi_running_keep_apart(const ppi_running *ended, const ppi_running *next);

// running_exports.c: makes what exports need of the session, writes those of
// the run after its stop, gives up those that were not written.
pprof_status ppi_running_add_exports(ppi_running *run, pprof_error *error);
pprof_status ppi_running_write_exports(ppi_running *run, pprof_status first,
                                       pprof_error *error);
void ppi_running_drop_exports(ppi_running *run);
// Says in `error` what trace could not be written, if one could not.
void ppi_running_tell_trace(const ppi_running *run, pprof_error *error);

// running_trigger.c: windows and dumps on demand. `add` before the start;
// `destroy` after the session's.
pprof_status ppi_triggers_add(ppi_running *run, pprof_error *error);
void ppi_triggers_destroy(ppi_triggers *triggers);
// As ppi_control_actions say; `user` is the running.
void ppi_triggers_trigger(void *user, const ppi_trigger *trigger,
                          ppi_control_reply *reply);
bool ppi_triggers_settled(void *user, uint64_t ticket,
                          ppi_control_reply *reply);
void ppi_triggers_gone(void *user, uint64_t ticket);

// running_control.c: the control thread, and the file read again.
void ppi_running_start_control(ppi_running *run);
void ppi_running_reload(void *user);
const ppi_config *ppi_running_config(const ppi_running *run);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUNNING_H_
