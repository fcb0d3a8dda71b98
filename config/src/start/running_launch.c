// SPDX-License-Identifier: Apache-2.0
//
// Runs one pprof_start: its session with sinks, from launch to finish. Called
// by compose.c under its lock.
#include "start/running_launch.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/machine.h"
#include "start/compose.h"
#include "start/running_exports.h"
#include "start/running_live.h"
#include "start/running_paths.h"
#include "start/running_trigger.h"

#define US ((uint64_t)1000)

// ---- reload ----

// A new choice begins a new epoch, which cuts open ranges: it is set only if it
// differs.
static pprof_status change_choice(ppi_running *run, const ppi_config *old,
                                  const ppi_config *next) {
  if (ppi_config_same_globs(&old->include, &next->include) &&
      ppi_config_same_globs(&old->exclude, &next->exclude) &&
      ppi_config_same_globs(&old->cpu, &next->cpu))
    return PPROF_STATUS_OK;
  return ppi_running_set_choice(run, next);
}

static pprof_status set_rules(ppi_running *run, const ppi_config *config) {
  if (!run->flight) return PPROF_STATUS_OK;
  ppi_rule *rules = ppi_alloc(PPI_CONFIG_MAX_CONDITIONS * sizeof *rules);
  if (!rules) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = ppi_running_calls->flight_set_rules(
      run->flight, rules, ppi_config_conditions(config, rules),
      config->flight.every_us * US, config->flight.limit);
  ppi_free(rules);
  return status;
}

// A failed step changed nothing; the steps before it are undone. The step that
// cuts open ranges comes last.
static pprof_status apply(ppi_running *run, const ppi_config *old,
                          const ppi_config *next, pprof_error *error) {
  pprof_status status = set_rules(run, next);
  if (status == PPROF_STATUS_OK) {
    status = ppi_running_set_capture(run, next);
    if (status == PPROF_STATUS_OK) {
      status = change_choice(run, old, next);
      if (status != PPROF_STATUS_OK) ppi_running_set_capture(run, old);
    }
    if (status != PPROF_STATUS_OK) set_rules(run, old);
  }
  if (status != PPROF_STATUS_OK)
    return ppi_fail(error, status, "%s: %s", run->config_path,
                    pprof_status_string(status));
  ppi_running_calls->set_waits(next->waits == 1, next->idle_waits == 1);
  return status;
}

static pprof_status load_next(const ppi_running *run, ppi_config *next,
                              pprof_error *error) {
  pprof_status status =
      ppi_compose_load_with(run->config_path, &run->in_code, next, error);
  if (status != PPROF_STATUS_OK) return status;
  const char *fixed = ppi_config_fixed_change(ppi_running_config(run), next);
  if (!fixed) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_CONFIG,
                  "%s: '%s' cannot change while a session runs",
                  run->config_path, fixed);
}

// Where names are hashed, they do not leave the process; a message about a rule
// or a glob may contain one.
static void note_refusal(ppi_running *run, const char *why) {
  ppi_message(PPI_MESSAGE_ERROR, "the configuration stays as it was: %s", why);
  ppi_running_calls->session_note(run->session, "reload_refused",
                                  run->config.hash_names ? "" : why);
}

static void reload(void *user) {
  ppi_running *run = user;
  pprof_error error = {""};
  ppi_config *next = ppi_alloc(sizeof *next);
  pprof_status status = next ? load_next(run, next, &error)
                             : ppi_fail(&error, PPROF_STATUS_NO_MEMORY,
                                        "%s: out of memory", run->config_path);
  PPI_THEN(status, apply(run, ppi_running_config(run), next, &error));
  if (status != PPROF_STATUS_OK) {
    note_refusal(run, error.text);
    ppi_free(next);
    return;
  }
  ppi_config *former = run->latest;
  __atomic_store_n(&run->latest, next, __ATOMIC_RELEASE);  // for forks
  ppi_free(former);
  ppi_message(PPI_MESSAGE_INFO, "%s was read again", run->config_path);
  ppi_running_calls->session_note(run->session, "reloaded", run->config_path);
}

// ---- the thread ----

static void started(void *user) {
  const ppi_running *run = user;
  ppi_environment_answer_from(&run->environment);
}

static void warn(void *user, const char *text) {
  (void)user;
  ppi_message(PPI_MESSAGE_WARN, "%s", text);
}

static void moved(void *user, const char *text) {
  const ppi_running *run = user;
  warn(user, text);
  ppi_running_calls->session_note(run->session, "control", text);
}

static int signal_of(const ppi_config *config) {
  switch (config->control.signal) {
    case PPI_CONTROL_SIGNAL_USR1:
      return SIGUSR1;
    case PPI_CONTROL_SIGNAL_USR2:
      return SIGUSR2;
    default:
      return 0;
  }
}

// A run that cannot be asked still records.
static void start_control(ppi_running *run) {
  const ppi_config *config = &run->config;
  const ppi_control_options options = {
      .socket = config->control.socket != 0,
      .touch_path = run->touch_path[0] ? run->touch_path : NULL,
      .reload_path = config->control.reload && run->config_path[0]
                         ? run->config_path
                         : NULL,
      .signal = signal_of(config),
      .tick_ms = run->live && run->metrics_path[0]
                     ? (uint32_t)(config->metrics.every_us / 1000)
                     : 0,
      .former = run->former};
  const ppi_control_actions actions = {.user = run,
                                       .trigger = ppi_triggers_trigger,
                                       .settled = ppi_triggers_settled,
                                       .gone = ppi_triggers_gone,
                                       .watch = ppi_running_watch,
                                       .unwatch = ppi_running_unwatch,
                                       .tick = ppi_running_write_metrics,
                                       .reload = reload,
                                       .started = started,
                                       .warn = warn,
                                       .moved = moved};
  pprof_error error = {""};
  if (!ppi_environment_copy_take(&run->environment))
    warn(run, "no control thread: out of memory");
  else if (ppi_running_calls->control_start(&options, &actions, &run->control,
                                            &error) != PPROF_STATUS_OK)
    warn(run, error.text);
}

// NULL: in memory.
static const char *spool_folder(const ppi_config *config) {
  return strcmp(config->spool.text, "memory") == 0 ? NULL : config->spool.text;
}

static pprof_status create_session(ppi_running *run, pprof_error *error) {
  const ppi_config *config = &run->config;
  pprof_options options = {
      .size = sizeof options,
      .memory_limit_bytes = config->memory_limit_bytes,
      .spool_dir = spool_folder(config),
      .drain_interval_us = (uint32_t)config->drain_interval_us,
      .stop_wait_ms = (uint32_t)(config->stop_wait_us / 1000),
  };
  return ppi_running_calls->session_create(&options, &run->session, error);
}

// The configuration in force as YAML, for `free`; NULL: out of memory.
static char *config_text(const ppi_running *run) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return NULL;
  ppi_config_write(&run->config, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

// With hashed names, no plain names may be in the log; the configuration has
// some.
static pprof_status set_config_text(ppi_running *run) {
  if (run->config.hash_names)
    return ppi_running_calls->session_set_info(
        run->session, "config", "version: 1\nprivacy:\n  names: hash\n");
  char *text = config_text(run);
  if (!text) return PPROF_STATUS_NO_MEMORY;
  pprof_status status =
      ppi_running_calls->session_set_info(run->session, "config", text);
  free(text);
  return status;
}

static pprof_status set_up_session(ppi_running *run, pprof_error *error) {
  const ppi_config *config = &run->config;
  pprof_status status = ppi_running_set_capture(run, config);
  if (status == PPROF_STATUS_OK) status = ppi_running_set_choice(run, config);
  if (status == PPROF_STATUS_OK && config->flight.given)
    status = ppi_running_calls->session_set_ring(run->session,
                                                 config->flight.memory_bytes);
  PPI_THEN(status, ppi_running_calls->session_set_device_mode(
                       run->session, (ppi_device_mode)config->device_mode));
  PPI_THEN(status, ppi_running_calls->session_set_graph_nodes(
                       run->session, config->graph_nodes == 1));
  PPI_THEN(status, ppi_running_calls->session_set_kernels(
                       run->session, config->kernels == 1));
  PPI_THEN(status, ppi_running_calls->session_set_graph_kernels(
                       run->session, config->graph_kernels == 1));
  PPI_THEN(status, ppi_running_calls->session_set_device_calls(
                       run->session, config->calls == 1));
  if (status == PPROF_STATUS_OK) status = set_config_text(run);
  if (status == PPROF_STATUS_OK) {
    ppi_running_calls->set_nvtx(&config->nvtx);
    ppi_running_calls->set_waits(config->waits == 1, config->idle_waits == 1);
  }
  return ppi_running_plain_failure(error, status, "cannot set up the session");
}

static pprof_status add_log(ppi_running *run, pprof_error *error) {
  pprof_sink *sink;
  const ppi_log_rotation rotation = {
      run->config.rotate_bytes, (uint32_t)run->config.rotate_keep, run->disk};
  pprof_status status = ppi_running_calls->log_writer_create(
      run->output, &rotation, &sink, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_running_note_path(run->output, ppi_running_calls->log_writer_path(sink));
  snprintf(run->log_part, sizeof run->log_part, "%s",
           ppi_running_calls->log_writer_part_path(sink));
  status = ppi_running_take_sink(run, sink, error);
  if (status == PPROF_STATUS_OK) run->log = sink;
  return status;
}

static pprof_status add_flight(ppi_running *run, pprof_error *error) {
  pprof_sink *sink;
  const ppi_config_flight *flight = &run->config.flight;
  ppi_rule *rules = ppi_alloc(PPI_CONFIG_MAX_CONDITIONS * sizeof *rules);
  if (!rules) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  const ppi_flight_options options = {
      .before_ns = flight->before_us * US,
      .after_ns = flight->after_us * US,
      .every_ns = flight->every_us * US,
      .limit = flight->limit,
      .path = run->flight_output,
      .rules = rules,
      .num_rules = ppi_config_conditions(&run->config, rules),
      .disk = run->disk,
      .memory_bytes = flight->memory_bytes};
  pprof_status status =
      ppi_running_calls->flight_create(&options, &sink, error);
  ppi_free(rules);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_running_take_sink(run, sink, error);
  if (status == PPROF_STATUS_OK) run->flight = sink;
  return status;
}

static pprof_status add_sinks(ppi_running *run, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  if (run->config.log) status = add_log(run, error);
  if (status == PPROF_STATUS_OK && run->config.flight.given)
    status = add_flight(run, error);
  if (status == PPROF_STATUS_OK) status = ppi_running_add_exports(run, error);
  if (status == PPROF_STATUS_OK) status = ppi_triggers_add(run, error);
  if (status == PPROF_STATUS_OK) ppi_running_add_live(run);
  return status;
}

// The report's sink belongs to the report, which therefore goes after the
// session. Parts that its sinks and makers use go last.
void ppi_running_destroy(ppi_running *run) {
  if (run->session) ppi_running_calls->session_destroy(run->session);
  if (run->report) ppi_running_calls->report_destroy(run->report);
  ppi_running_drop_exports(run);
  ppi_triggers_destroy(run->triggers);
  ppi_environment_copy_clear(&run->environment);
  ppi_disk_destroy(run->disk);
  ppi_free(run->latest);
  ppi_free(run);
}

static void warn_unknown(const char *text) {
  ppi_message(PPI_MESSAGE_WARN, "%s", text);
}

// Once in a process, however many runs it starts.
static void warn_of_variables(void) {
  static bool warned;
  if (!warned) ppi_environment_unknown(warn_unknown);
  warned = true;
}

pprof_status ppi_running_prepare(ppi_running *run, const char *config_path,
                                 pprof_error *error) {
  warn_of_variables();
  const char *path = config_path ? config_path : ppi_environment_config_path();
  if (run->in_code.config_text) path = NULL;
  pprof_status status =
      ppi_compose_load_with(path, &run->in_code, &run->config, error);
  run->in_code.config_text = NULL;
  PPI_THEN(status, ppi_environment_reclaim(&run->reclaims, error));
  if (status != PPROF_STATUS_OK) return status;
  run->reclaims = run->reclaims && run->config.reclaim;
  if (!getcwd(run->folder, sizeof run->folder)) run->folder[0] = 0;
  return ppi_running_expand_paths(run, path, error);
}

pprof_status ppi_running_prepare_child(ppi_running *run,
                                       const ppi_running *parents,
                                       pprof_error *error) {
  const char *file = parents->config_path;
  run->config = *ppi_running_config(parents);
  run->in_code = parents->in_code;
  run->in_code.on_window = NULL;
  strcpy(run->folder, parents->folder);
  run->forked = run->follows = true;
  run->former = parents->control;
  return ppi_running_expand_paths(run, file[0] ? file : NULL, error);
}

static pprof_status limit_disk(ppi_running *run, pprof_error *error) {
  if (run->config.disk_limit_bytes == 0) return PPROF_STATUS_OK;
  run->disk = ppi_disk_create(run->config.disk_limit_bytes);
  return run->disk ? PPROF_STATUS_OK
                   : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

static void note_reclaimed(void *user, const char *text) {
  const ppi_running *run = user;
  ppi_running_calls->session_note(run->session, "reclaim", text);
}

// Messages read the environment, which reclaim's thread must not.
static void notify_reclaimed(ppi_running *run) {
  char text[256];
  if (ppi_reclaim_news(run->reclaim, text, sizeof text))
    ppi_message(PPI_MESSAGE_WARN, "%s", text);
}

// After the session's start, so that this process's own spool is recognized.
static void start_reclaim(ppi_running *run) {
  if (!run->reclaims) return;
  const ppi_reclaim_options options = {
      .folder = spool_folder(&run->config),
      .limit_bytes = run->config.memory_limit_bytes,
      .reported = note_reclaimed,
      .user = run};
  run->reclaim = ppi_reclaim_start(&options);
  notify_reclaimed(run);
}

// Before the session's stop, so that its totals have the note.
static void finish_reclaim(ppi_running *run) {
  ppi_reclaim_finish(run->reclaim, run->config.stop_wait_us / 1000);
  notify_reclaimed(run);
  ppi_reclaim_destroy(run->reclaim);
  run->reclaim = NULL;
}

static void note_machine(void *user, const char *key, const char *text) {
  const ppi_running *run = user;
  ppi_running_calls->session_note(run->session, key, text);
}

// A run without samples still records.
static void start_machine(ppi_running *run) {
  const ppi_machine_options options = {.without = run->config.machine_without,
                                       .note = note_machine,
                                       .user = run};
  if (run->config.machine && !ppi_machine_start(&options))
    note_machine(run, "machine", "no thread could be made to sample it");
}

pprof_status ppi_running_launch(ppi_running *run, pprof_error *error) {
  pprof_status status = limit_disk(run, error);
  if (status == PPROF_STATUS_OK) status = create_session(run, error);
  if (status == PPROF_STATUS_OK) status = set_up_session(run, error);
  if (status == PPROF_STATUS_OK) status = add_sinks(run, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_running_calls->open_backends(run->config.backends);
  status = ppi_running_plain_failure(
      error, ppi_running_calls->session_start(run->session), "cannot start");
  if (status != PPROF_STATUS_OK) return status;
  start_machine(run);
  start_control(run);
  start_reclaim(run);
  return status;
}

bool ppi_running_is_same(const ppi_running *a, const ppi_running *b) {
  if (a->in_code.on_window || b->in_code.on_window) return false;
  char *x = config_text(a);
  char *y = config_text(b);
  bool same = x && y && strcmp(x, y) == 0 && strcmp(a->wanted, b->wanted) == 0;
  free(x);
  free(y);
  return same;
}

// Adds the failed sink and the reason: the session only knows that one failed.
static void notify_failure(const ppi_running *run, pprof_status status,
                           pprof_error *error) {
  const char *why =
      run->log ? ppi_running_calls->log_writer_error(run->log) : "";
  if (why[0])
    ppi_fail(error, status, "%s", why);
  else
    ppi_running_notify_trace(run, error);
}

// Success also reports that the log does not have the wanted name.
static void notify_name(const ppi_running *run, pprof_error *error) {
  const char *note =
      run->log ? ppi_running_calls->log_writer_note(run->log) : "";
  if (error) snprintf(error->text, sizeof error->text, "%s", note);
}

// For a rotated log, the last segment. A child prints nothing: one line in a
// process is enough.
static void print_log_path(const ppi_running *run) {
  static bool reported;
  const char *path = ppi_running_calls->log_writer_path(run->log);
  const char *note = ppi_running_calls->log_writer_note(run->log);
  ppi_message(PPI_MESSAGE_INFO, "wrote %s", path);
  if (!reported && !run->forked)
    ppi_print_terminal("wrote %s%s%s; `pprof-report LOG` reads it", path,
                       note[0] ? "; " : "", note);
  reported = true;
}

// Clients of the control thread that wait for the session's end get the answer
// after it.
pprof_status ppi_running_finish(ppi_running *run, pprof_error *error) {
  ppi_control_hush(run->control);
  finish_reclaim(run);
  if (run->config.machine) ppi_machine_stop(run->config.stop_wait_us / 1000);
  pprof_status first = ppi_running_calls->session_stop(run->session, error);
  if (first != PPROF_STATUS_OK) notify_failure(run, first, error);
  if (run->live) ppi_running_end_metrics(run);
  ppi_control_stop(run->control);
  first = ppi_running_write_exports(run, first, error);
  if (first == PPROF_STATUS_OK && run->config.log) print_log_path(run);
  if (first == PPROF_STATUS_OK) notify_name(run, error);
  ppi_running_destroy(run);
  return first;
}

// The files' locks belong to the parent and end with it, not with its children.
void ppi_running_in_forked_child(ppi_running *run) {
  ppi_control_in_forked_child(run->control);
  if (run->config.machine) ppi_machine_in_forked_child();
  ppi_running_live_in_forked_child(run);
  for (size_t i = 0; i < run->config.num_exports; i++) {
    ppi_part *part = &run->export_parts[i];
    if (part->path.text[0]) ppi_fd_close(part->fd, &part->id);
    part->fd = -1;
  }
}
