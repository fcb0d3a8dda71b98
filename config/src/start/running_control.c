// SPDX-License-Identifier: Apache-2.0
//
// Acts for a run's control thread, and reloads the configuration's file: all of
// it applies, or nothing changes.
#include <signal.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "start/compose.h"
#include "start/running_control.h"
#include "start/running_live.h"
#include "start/running_trigger.h"

#define US ((uint64_t)1000)

// ---- reload ----

static bool same_globs(const ppi_config_globs *a, const ppi_config_globs *b) {
  bool same = a->num == b->num;
  for (size_t i = 0; same && i < a->num; i++)
    same = strcmp(a->items[i], b->items[i]) == 0;
  return same;
}

// A new choice begins a new epoch, which cuts open ranges: it is set only if it
// differs.
static pprof_status change_choice(ppi_running *run, const ppi_config *old,
                                  const ppi_config *next) {
  if (same_globs(&old->include, &next->include) &&
      same_globs(&old->exclude, &next->exclude) &&
      same_globs(&old->cpu, &next->cpu))
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
  if (status == PPROF_STATUS_OK)
    status = apply(run, ppi_running_config(run), next, &error);
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
void ppi_running_start_control(ppi_running *run) {
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
