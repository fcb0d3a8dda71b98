// SPDX-License-Identifier: Apache-2.0
//
// Makes windows and dumps on demand, from a request of the control thread to
// the file. The control thread opens a window's log, the collector's thread
// fills it and the completion thread finishes it.
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "start/running_trigger.h"

enum { MAX_DEMANDS = 16 };  // those with an end that a client may ask for
#define DEFAULT_NS 10000000000ull

typedef enum demand_state {
  DEMAND_FREE = 0,
  DEMAND_PENDING,  // its window is not complete, its dump not whole
  DEMAND_DONE      // until asked for, or replaced
} demand_state;

typedef struct demand {
  demand_state state;
  uint64_t ticket;
  bool is_dump, has_log, has_window;
  bool has_kernels;  // not over yet
  bool is_waiting;   // for a step, at the last look
  uint32_t window;
  pprof_sink *log;  // until its window opens
  pprof_status status;
  pprof_error why;  // of kernels
  char path[PATH_MAX];
} demand;

struct ppi_triggers {
  pthread_mutex_t mutex;  // guards the rest
  uint64_t last_ticket;
  demand demands[MAX_DEMANDS];
};

// A place for a new demand: a free one, else the oldest finished one.
static demand *find_place(ppi_triggers *triggers) {
  demand *best = NULL;
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    if (one->state == DEMAND_FREE) return one;
    if (one->state == DEMAND_DONE && !one->has_kernels &&
        (!best || one->ticket < best->ticket))
      best = one;
  }
  return best;
}

static demand *find_window(ppi_triggers *triggers, uint32_t window) {
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    if (one->state == DEMAND_PENDING && !one->is_dump && one->window == window)
      return one;
  }
  return NULL;
}

// ---- what windows report ----

static pprof_sink *open_window(void *user, uint32_t window) {
  ppi_triggers *triggers = user;
  pthread_mutex_lock(&triggers->mutex);
  demand *one = find_window(triggers, window);
  pprof_sink *log = one ? one->log : NULL;
  if (one) {
    one->log = NULL;
    one->is_waiting = false;
  }
  pthread_mutex_unlock(&triggers->mutex);
  return log;
}

// Without `log`, the window was skipped, or the log is the session's.
static void complete_window(void *user, uint32_t window, pprof_sink *log,
                            pprof_status status) {
  ppi_triggers *triggers = user;
  pthread_mutex_lock(&triggers->mutex);
  demand *one = find_window(triggers, window);
  if (one) {
    one->state = DEMAND_DONE;
    one->status = status;
    if (log)
      snprintf(one->path, sizeof one->path, "%s",
               ppi_running_calls->log_writer_path(log));
    else
      log = one->log;
    one->log = NULL;
  }
  pthread_mutex_unlock(&triggers->mutex);
  if (log) log->destroy(log);
}

// Too many windows wait for a slow callback: the client of this one need not
// wait for it.
static void skip_window(void *user, uint32_t window) {
  complete_window(user, window, NULL, PPROF_STATUS_BUSY);
}

static bool is_wanted(const ppi_config *config) {
  return config->control.socket || config->control.file.text[0] ||
         config->control.signal != PPI_CONTROL_SIGNAL_NONE;
}

pprof_status ppi_triggers_add(ppi_running *run, pprof_error *error) {
  if (!is_wanted(&run->config)) return PPROF_STATUS_OK;
  ppi_triggers *triggers = ppi_alloc(sizeof *triggers);
  if (!triggers)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pthread_mutex_init(&triggers->mutex, NULL);
  run->triggers = triggers;
  const ppi_window_maker maker = {open_window, complete_window, NULL, triggers,
                                  skip_window};
  return ppi_running_plain_failure(
      error, ppi_running_calls->session_add_window_maker(run->session, &maker),
      "cannot set up the session");
}

void ppi_triggers_destroy(ppi_triggers *triggers) {
  if (!triggers) return;
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    pprof_sink *log = triggers->demands[i].log;
    if (log) log->destroy(log);
  }
  pthread_mutex_destroy(&triggers->mutex);
  ppi_free(triggers);
}

// ---- requests ----

static const char *word_of(pprof_status status) {
  return status == PPROF_STATUS_INVALID       ? "invalid"
         : status == PPROF_STATUS_BUSY        ? "busy"
         : status == PPROF_STATUS_NO_MEMORY   ? "memory"
         : status == PPROF_STATUS_UNAVAILABLE ? "unavailable"
                                              : "io";
}

static void refuse(ppi_control_reply *reply, pprof_status status,
                   const char *why) {
  snprintf(reply->text, sizeof reply->text, "failed %s %s", word_of(status),
           why);
  ppi_message(PPI_MESSAGE_WARN, "trigger: %s", why);
}

static void trigger_dump(ppi_running *run, const ppi_trigger *asked,
                         ppi_control_reply *reply) {
  ppi_triggers *triggers = run->triggers;
  const char *wanted = asked->output[0] ? asked->output : NULL;
  char path[PATH_MAX] = "";
  pprof_status status =
      ppi_running_calls->flight_trigger(run->flight, wanted, path, sizeof path);
  if (status != PPROF_STATUS_OK) {
    refuse(reply, status,
           status == PPROF_STATUS_BUSY      ? "a dump is being written already"
           : status == PPROF_STATUS_IO      ? path
           : status == PPROF_STATUS_INVALID ? "the dump's path is too long"
                                            : pprof_status_string(status));
    return;
  }
  ppi_message(PPI_MESSAGE_INFO, "trigger: a dump goes to %s", path);
  snprintf(reply->text, sizeof reply->text, "begun dump file=%s", path);
  pthread_mutex_lock(&triggers->mutex);
  demand *one = find_place(triggers);
  if (one) {
    *one = (demand){.state = DEMAND_PENDING,
                    .ticket = ++triggers->last_ticket,
                    .is_dump = true};
    strcpy(one->path, path);
    reply->ticket = one->ticket;
  }
  pthread_mutex_unlock(&triggers->mutex);
}

static void refuse_window(const ppi_running *run, pprof_status status,
                          ppi_control_reply *reply) {
  char why[PATH_MAX + 160];
  if (status != PPROF_STATUS_BUSY)
    snprintf(why, sizeof why, "no window can be opened: %s",
             pprof_status_string(status));
  else if (ppi_running_config(run)->num_windows > 0)
    snprintf(why, sizeof why,
             "a window is open or asked for already; try again later");
  else if (run->flight)
    snprintf(why, sizeof why,
             "everything is being recorded already; without steps and seconds"
             " a trigger makes the flight recorder write a dump");
  else
    snprintf(why, sizeof why,
             "everything is being recorded already%s%s; 'capture:"
             " {on_demand: true}' records only when asked",
             run->config.log ? ", to " : "",
             run->config.log ? run->log_part : "");
  refuse(reply, status, why);
}

static void say_begun(const demand *one, bool by_steps,
                      ppi_control_reply *reply) {
  reply->ticket = one->ticket;
  if (!one->has_window) {
    ppi_message(PPI_MESSAGE_INFO, "trigger: kernels, too");
    snprintf(reply->text, sizeof reply->text, "begun kernels file=%s",
             one->path);
    return;
  }
  ppi_message(PPI_MESSAGE_INFO, "trigger: window %u goes to %s", one->window,
              one->path[0] ? one->path : "the exports");
  snprintf(reply->text, sizeof reply->text, "begun window=%u opens=%s file=%s",
           one->window, by_steps ? "step" : "now", one->path);
}

// The window may open before this returns: its maker waits for the lock.
// Kernels need no window if everything is recorded, or if another client's
// window is open.
static pprof_status place_demand(ppi_running *run, const ppi_demand *wanted,
                                 demand *made) {
  ppi_triggers *triggers = run->triggers;
  pthread_mutex_lock(&triggers->mutex);
  demand *one = find_place(triggers);
  pprof_status status = one ? ppi_running_calls->session_demand(
                                  run->session, wanted, &made->window)
                            : PPROF_STATUS_BUSY;
  made->has_window = status == PPROF_STATUS_OK;
  bool may_go = one && made->has_kernels && !made->log;
  if (status == PPROF_STATUS_BUSY && may_go) status = PPROF_STATUS_OK;
  if (status == PPROF_STATUS_OK) {
    made->state = made->has_window ? DEMAND_PENDING : DEMAND_DONE;
    made->ticket = ++triggers->last_ticket;
    *one = *made;
  }
  pthread_mutex_unlock(&triggers->mutex);
  return status;
}

static pprof_status open_log(ppi_running *run, const char *path, demand *made,
                             pprof_error *error) {
  const ppi_log_rotation whole = {0, 0, run->disk};
  pprof_status status =
      ppi_running_calls->log_writer_create(path, &whole, &made->log, error);
  if (status != PPROF_STATUS_OK) return status;
  made->has_log = true;
  snprintf(made->path, sizeof made->path, "%s",
           ppi_running_calls->log_writer_path(made->log));
  return status;
}

// Only the latest demand's end is known.
static void look_at_kernels(ppi_running *run) {
  ppi_triggers *triggers = run->triggers;
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    pprof_status status = PPROF_STATUS_OK;
    if (one->state == DEMAND_FREE || !one->has_kernels ||
        !ppi_running_calls->session_kernels_traced(run->session, &status,
                                                   &one->why))
      continue;
    one->has_kernels = false;
    if (one->status == PPROF_STATUS_OK) one->status = status;
  }
}

// Begins kernels before their window, which is open for the same time.
static pprof_status begin_kernels(ppi_running *run, const ppi_trigger *asked,
                                  demand *made, pprof_error *error) {
  if (!asked->kernels) return PPROF_STATUS_OK;
  pthread_mutex_lock(&run->triggers->mutex);
  look_at_kernels(run);
  pthread_mutex_unlock(&run->triggers->mutex);
  made->has_kernels = true;
  return ppi_running_calls->session_trace_kernels(run->session, asked->ns,
                                                  error);
}

static void trigger_window(ppi_running *run, const ppi_trigger *asked,
                           ppi_control_reply *reply) {
  const ppi_demand wanted = {
      asked->steps, asked->steps || asked->ns ? asked->ns : DEFAULT_NS};
  demand made = {.state = DEMAND_PENDING, .is_waiting = asked->steps > 0};
  pprof_error error = {""};
  pprof_status status = PPROF_STATUS_OK;
  if (asked->kernels && asked->output[0] &&
      ppi_running_config(run)->num_windows == 0) {
    refuse_window(run, PPROF_STATUS_BUSY, reply);
    return;
  }
  if (asked->output[0])
    status = open_log(run, asked->output, &made, &error);
  else
    strcpy(made.path, run->log_part);
  PPI_THEN(status, begin_kernels(run, asked, &made, &error));
  if (status != PPROF_STATUS_OK) {
    if (made.log) made.log->destroy(made.log);
    refuse(reply, status, error.text);
    return;
  }
  status = place_demand(run, &wanted, &made);
  if (status == PPROF_STATUS_OK) {
    say_begun(&made, asked->steps > 0, reply);
    return;
  }
  if (made.has_kernels) ppi_running_calls->session_end_kernels(run->session);
  if (made.log) made.log->destroy(made.log);
  refuse_window(run, status, reply);
}

void ppi_triggers_trigger(void *user, const ppi_trigger *trigger,
                          ppi_control_reply *reply) {
  ppi_running *run = user;
  if (run->flight && trigger->steps == 0 && trigger->ns == 0)
    trigger_dump(run, trigger, reply);
  else
    trigger_window(run, trigger, reply);
}

// ---- their end ----

// The session's log has more to write than a window's own log, which is
// finished.
static void say_done(ppi_running *run, const demand *one,
                     ppi_control_reply *reply) {
  if (one->status != PPROF_STATUS_OK) {
    snprintf(
        reply->text, sizeof reply->text, "failed %s %s: %s",
        word_of(one->status), one->path,
        one->why.text[0] ? one->why.text : pprof_status_string(one->status));
    return;
  }
  const char *path = one->path;
  if (!one->is_dump && !one->has_log) {
    ppi_running_calls->session_flush(run->session);
    // The file gets its last name after the stop.
    if (path[0] && access(path, F_OK) != 0) path = run->output;
  }
  if (one->is_dump)
    snprintf(reply->text, sizeof reply->text, "done dump file=%s", path);
  else if (!one->has_window)
    snprintf(reply->text, sizeof reply->text, "done kernels file=%s", path);
  else
    snprintf(reply->text, sizeof reply->text, "done window=%u file=%s",
             one->window, path);
}

// Checks all dumps, even without a waiting client: their places become free.
static void look_at_dumps(ppi_running *run) {
  ppi_triggers *triggers = run->triggers;
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    if (one->state == DEMAND_PENDING && one->is_dump &&
        ppi_running_calls->flight_dumped(run->flight, one->path, &one->status))
      one->state = DEMAND_DONE;
  }
}

bool ppi_triggers_settled(void *user, uint64_t ticket,
                          ppi_control_reply *reply) {
  ppi_running *run = user;
  ppi_triggers *triggers = run->triggers;
  demand found = {.state = DEMAND_FREE};
  pthread_mutex_lock(&triggers->mutex);
  look_at_dumps(run);
  look_at_kernels(run);
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    if (one->state == DEMAND_FREE || one->ticket != ticket) continue;
    found = *one;
    if (one->has_kernels) found.state = DEMAND_PENDING;
    if (found.state == DEMAND_DONE) one->state = DEMAND_FREE;
  }
  pthread_mutex_unlock(&triggers->mutex);
  if (found.state == DEMAND_PENDING) return false;
  if (found.state == DEMAND_DONE)
    say_done(run, &found, reply);
  else
    strcpy(reply->text, "failed busy too much was asked for since");
  return true;
}

// Cancels a window that no step has opened, once no client wants it: others may
// then ask.
void ppi_triggers_gone(void *user, uint64_t ticket) {
  ppi_running *run = user;
  ppi_triggers *triggers = run->triggers;
  pprof_sink *log = NULL;
  pthread_mutex_lock(&triggers->mutex);
  for (size_t i = 0; i < MAX_DEMANDS; i++) {
    demand *one = &triggers->demands[i];
    if (one->state != DEMAND_PENDING || one->ticket != ticket ||
        !one->is_waiting || !ppi_running_calls->session_withdraw(run->session))
      continue;
    log = one->log;
    *one = (demand){.state = DEMAND_FREE};
  }
  pthread_mutex_unlock(&triggers->mutex);
  if (log) log->destroy(log);
}
