// SPDX-License-Identifier: Apache-2.0
//
// pprof_start and pprof_stop, and the same for a session that injection starts.
// One lock covers all; what they hold between them is one `run`. In a forked
// child there is no run: its threads are gone.
#include "compose.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_impl.h"
#include "environment.h"
#include "inject.h"
#include "log_writer.h"
#include "mem.h"

typedef struct running {
  ppi_config config;
  pprof_session *session;
  pprof_report *report;  // NULL: no export needs one
  bool injected;         // injection started it
  bool adopted;          // and the program has started it again since
  char output[PATH_MAX];
  char export_paths[PPI_CONFIG_MAX_EXPORTS][PATH_MAX];
} running;

// Not a plain one: a library that a start loads may call NVTX, and thereby
// injection, on the same thread.
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static uint32_t lock_owner;  // OS thread id, 0: nobody; atomic
static running *current;
static bool started_by_program;  // ever, in this process
static bool tried_to_attach;
static bool forked;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static bool took_lock(int error) {
  if (error == 0)
    __atomic_store_n(&lock_owner, (uint32_t)gettid(), __ATOMIC_RELAXED);
  return error == 0;
}

static bool take_lock(void) {
  return took_lock(pthread_mutex_lock(&lock));
}

static void give_lock(void) {
  __atomic_store_n(&lock_owner, 0, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}

// Injection may hold the loader's lock, for which a thread that has ours may be
// waiting: it waits for a while only. What that thread does is enough then. (A
// timed lock goes by a clock that can be set.)
static bool take_lock_soon(void) {
  for (int i = 0; !took_lock(pthread_mutex_trylock(&lock)); i++) {
    if (i == 2000 ||
        __atomic_load_n(&lock_owner, __ATOMIC_RELAXED) == (uint32_t)gettid())
      return false;
    struct timespec pause = {0, 100000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  }
  return true;
}

static void open_backends(uint64_t backends) {
  if (backends & PPI_CONFIG_BACKEND_CPU)
    pprof_device_get(pprof_backend_cpu(), 0);
  if (backends & PPI_CONFIG_BACKEND_OPENCL)
    pprof_device_get(pprof_backend_opencl(), 0);
  if (backends & PPI_CONFIG_BACKEND_CUDA)
    pprof_device_get(pprof_backend_cuda(), 0);
  if (backends & PPI_CONFIG_BACKEND_HIP)
    pprof_device_get(pprof_backend_hip(), 0);
}

static const ppi_compose_calls real_calls = {
    .session_current = pprof_session_current,
    .session_create = pprof_session_create,
    .session_set_schedule = ppi_session_set_schedule,
    .session_set_device_mode = ppi_session_set_device_mode,
    .session_set_graph_nodes = ppi_session_set_graph_nodes,
    .set_nvtx = ppi_nvtx_set_options,
    .session_set_info = ppi_session_set_info,
    .session_add_sink = pprof_session_add_sink,
    .session_start = pprof_session_start,
    .session_stop = pprof_session_stop,
    .session_destroy = pprof_session_destroy,
    .log_writer_create = pprof_log_writer_create,
    .log_writer_path = ppi_log_writer_path,
    .chrome_writer_create = pprof_chrome_writer_create,
    .report_create = pprof_report_create,
    .report_sink = pprof_report_sink,
    .report_destroy = pprof_report_destroy,
    .report_write = {NULL, pprof_report_write_table, pprof_report_write_json,
                     pprof_report_write_csv},
    .open_backends = open_backends,
};
static const ppi_compose_calls *calls = &real_calls;

void ppi_compose_set_calls(const ppi_compose_calls *replacement) {
  calls = replacement ? replacement : &real_calls;
}

// The child has none of the parent's threads and must not touch its files; a
// lock that another thread held at the fork would never be released.
static void forget_in_child(void) {
  static const pthread_mutex_t fresh = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  lock = fresh;
  lock_owner = 0;
  bool follows = current ? current->injected : !started_by_program;
  tried_to_attach = !follows || (current && !ppi_nvtx_follows_forks());
  started_by_program = false;
  forked = true;
  current = NULL;
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, forget_in_child);
}

static pprof_status load_file(const char *path, ppi_config *config,
                              pprof_error *error) {
  ppi_yaml yaml;
  ppi_yaml_init(&yaml, path);
  pprof_status status = ppi_yaml_read(&yaml, error);
  if (status == PPROF_STATUS_OK)
    status = ppi_config_apply(config, &yaml, error);
  ppi_yaml_clear(&yaml);
  return status;
}

pprof_status ppi_compose_load(const char *config_path, ppi_config *config,
                              pprof_error *error) {
  const char *path = config_path ? config_path : ppi_environment_config_path();
  pprof_status status = ppi_config_defaults(config);
  if (status == PPROF_STATUS_OK && path)
    status = load_file(path, config, error);
  if (status == PPROF_STATUS_OK) status = ppi_environment_apply(config, error);
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, error);
  return status;
}

static const char *where_of(const ppi_config_text *path) {
  return path->where[0] ? path->where : "output";
}

// Reports are written when all is over; that their folder cannot be written to
// is better known now.
static pprof_status check_folder(const ppi_config_text *from, const char *path,
                                 pprof_error *error) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t len = slash ? (size_t)(slash - path) : 0;
  memcpy(folder, path, len);
  folder[len] = 0;
  const char *name = slash == path ? "/" : slash ? folder : ".";
  if (access(name, W_OK | X_OK) == 0) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "%s: cannot write into %s: %s",
                  where_of(from), ppi_quote_of(name).text, strerror(errno));
}

// What injection records must not replace: files of the parent, in a child that
// was forked or runs another program under the same settings; files of a
// session that the program has, or had, with another copy of this library.
static bool needs_own_name(const running *run, const ppi_config_text *template,
                           const char *path) {
  char part[PATH_MAX + 8];
  if (!run->injected) return false;
  snprintf(part, sizeof part, "%s.part", path);
  if (access(part, F_OK) == 0) return true;
  return strstr(template->text, "%p") ? access(path, F_OK) == 0 : forked;
}

static pprof_status expand_own(const running *run,
                               const ppi_config_text *template,
                               char path[PATH_MAX], pprof_error *error) {
  pprof_status status = ppi_expand_path(template, path, error);
  if (status != PPROF_STATUS_OK || !needs_own_name(run, template, path))
    return status;
  char infix[24] = "injected";
  if (!strstr(template->text, "%p"))
    snprintf(infix, sizeof infix, "%ld", (long)getpid());
  char *own = ppi_log_sibling_path(path, infix);
  bool fits = own && strlen(own) < PATH_MAX;
  if (fits) strcpy(path, own);
  ppi_free(own);
  return fits ? PPROF_STATUS_OK
              : ppi_fail(error, PPROF_STATUS_CONFIG, "%s: the path is too long",
                         where_of(template));
}

static pprof_status expand_export(running *run, size_t at, pprof_error *error) {
  const ppi_config_export *item = &run->config.exports[at];
  char *path = run->export_paths[at];
  pprof_status status = expand_own(run, &item->path, path, error);
  if (status != PPROF_STATUS_OK) return status;
  bool taken = run->config.log && strcmp(path, run->output) == 0;
  for (size_t i = 0; i < at; i++)
    taken = taken || strcmp(path, run->export_paths[i]) == 0;
  if (taken)
    return ppi_fail(error, PPROF_STATUS_CONFIG,
                    "%s: two outputs have the path '%s'", where_of(&item->path),
                    ppi_quote_of(path).text);
  return check_folder(&item->path, path, error);
}

static pprof_status expand_paths(running *run, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  if (run->config.log)
    status = expand_own(run, &run->config.output, run->output, error);
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++)
    status = expand_export(run, i, error);
  return status;
}

static pprof_status plain_failure(pprof_error *error, pprof_status status,
                                  const char *what) {
  if (status == PPROF_STATUS_OK) return status;
  return ppi_fail(error, status, "%s: %s", what, pprof_status_string(status));
}

static pprof_status create_session(running *run, pprof_error *error) {
  const ppi_config *config = &run->config;
  bool in_memory = strcmp(config->spool.text, "memory") == 0;
  pprof_options options = {
      .size = sizeof options,
      .memory_limit_bytes = config->memory_limit_bytes,
      .spool_dir = in_memory ? NULL : config->spool.text,
      .drain_interval_us = (uint32_t)config->drain_interval_us,
      .stop_wait_ms = (uint32_t)(config->stop_wait_us / 1000),
  };
  return calls->session_create(&options, &run->session, error);
}

// The configuration in force as YAML, for `free`; NULL: out of memory.
static char *config_text(const running *run) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return NULL;
  ppi_config_write(&run->config, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static pprof_status set_config_text(running *run) {
  char *text = config_text(run);
  if (!text) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = calls->session_set_info(run->session, "config", text);
  free(text);
  return status;
}

static pprof_status set_up_session(running *run, pprof_error *error) {
  ppi_schedule schedule;
  ppi_config_schedule(&run->config, &schedule);
  pprof_status status = calls->session_set_schedule(run->session, &schedule);
  if (status == PPROF_STATUS_OK)
    status = calls->session_set_device_mode(
        run->session, (ppi_device_mode)run->config.device_mode);
  if (status == PPROF_STATUS_OK)
    status = calls->session_set_graph_nodes(run->session,
                                            run->config.graph_nodes == 1);
  if (status == PPROF_STATUS_OK) status = set_config_text(run);
  if (status == PPROF_STATUS_OK) calls->set_nvtx(&run->config.nvtx);
  return plain_failure(error, status, "cannot set up the session");
}

static pprof_status take_sink(running *run, pprof_sink *sink,
                              pprof_error *error) {
  pprof_status status = calls->session_add_sink(run->session, sink);
  if (status != PPROF_STATUS_OK && sink->destroy) sink->destroy(sink);
  return plain_failure(error, status, "cannot add an output");
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Another session still writes what was asked for: this one's has a number.
static void note_log_path(running *run, const char *path) {
  if (strcmp(name_in(path), name_in(run->output)) == 0 ||
      strlen(path) >= sizeof run->output)
    return;
  ppi_message(PPI_MESSAGE_WARN, "%s is being written: recording to %s",
              run->output, path);
  strcpy(run->output, path);
}

static pprof_status add_log(running *run, pprof_error *error) {
  pprof_sink *sink;
  pprof_status status = calls->log_writer_create(run->output, &sink, error);
  if (status != PPROF_STATUS_OK) return status;
  note_log_path(run, calls->log_writer_path(sink));
  return take_sink(run, sink, error);
}

static pprof_status add_export(running *run, size_t at, pprof_error *error) {
  pprof_sink *sink;
  pprof_status status = PPROF_STATUS_OK;
  if (run->config.exports[at].format == PPI_EXPORT_CHROME) {
    status = calls->chrome_writer_create(run->export_paths[at], &sink, error);
    return status == PPROF_STATUS_OK ? take_sink(run, sink, error) : status;
  }
  if (run->report) return PPROF_STATUS_OK;  // one serves all tables
  status = plain_failure(error, calls->report_create(&run->report),
                         "cannot make a report");
  if (status != PPROF_STATUS_OK) return status;
  return take_sink(run, calls->report_sink(run->report), error);
}

static pprof_status add_sinks(running *run, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  if (run->config.log) status = add_log(run, error);
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++)
    status = add_export(run, i, error);
  return status;
}

// The report's sink belongs to the report, which therefore goes last.
static void destroy_run(running *run) {
  if (run->session) calls->session_destroy(run->session);
  if (run->report) calls->report_destroy(run->report);
  ppi_free(run);
}

static pprof_status fail_write(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write %s: %s", path,
                  strerror(errno));
}

// Written beside its place and moved there whole; a pipe or device in place.
static pprof_status write_export(const running *run, size_t at,
                                 pprof_error *error) {
  const ppi_config_export *item = &run->config.exports[at];
  const char *path = run->export_paths[at];
  struct stat found;
  bool plain = stat(path, &found) != 0 || S_ISREG(found.st_mode);
  char part[PATH_MAX + 8];
  snprintf(part, sizeof part, "%s%s", path, plain ? ".part" : "");
  FILE *out = fopen(part, "we");
  if (!out) return fail_write(path, error);
  const char *views = item->views.text[0] ? item->views.text : NULL;
  pprof_status status =
      calls->report_write[item->format](run->report, views, out);
  if (status != PPROF_STATUS_OK)
    ppi_fail(error, status, "cannot write %s: %s", path,
             pprof_status_string(status));
  bool failed = ferror(out) != 0;
  if ((fclose(out) != 0 || failed) && status == PPROF_STATUS_OK)
    status = fail_write(path, error);
  if (status == PPROF_STATUS_OK && plain && rename(part, path) != 0)
    status = fail_write(path, error);
  if (status != PPROF_STATUS_OK && plain) unlink(part);
  return status;
}

static pprof_status stop_locked(pprof_error *error) {
  running *run = current;
  if (!run) return PPROF_STATUS_OK;
  current = NULL;
  pprof_status first = calls->session_stop(run->session, error);
  for (size_t i = 0; i < run->config.num_exports; i++) {
    if (run->config.exports[i].format == PPI_EXPORT_CHROME) continue;
    pprof_error later;
    bool is_first = first == PPROF_STATUS_OK;
    pprof_status status = write_export(run, i, is_first ? error : &later);
    if (is_first) first = status;
  }
  if (first == PPROF_STATUS_OK && run->config.log)
    ppi_message(PPI_MESSAGE_INFO, "wrote %s", run->output);
  destroy_run(run);
  return first;
}

// Injection's file, where the program's run is about to write one of that name.
static void keep_apart(const char *path, const running *next) {
  bool meets = next->config.log && strcmp(path, next->output) == 0;
  for (size_t i = 0; i < next->config.num_exports; i++)
    meets = meets || strcmp(path, next->export_paths[i]) == 0;
  char *apart = meets ? ppi_log_sibling_path(path, "injected") : NULL;
  if (apart && rename(path, apart) != 0)
    ppi_message(PPI_MESSAGE_WARN, "cannot rename %s", path);
  ppi_free(apart);
}

// What the files were called is asked before the run is gone.
static pprof_status end_injected(const running *next, pprof_error *error) {
  running *names = ppi_alloc(sizeof *names);
  if (!names) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  *names = *current;
  pprof_error own = {""};
  if (stop_locked(&own) != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (names->config.log) keep_apart(names->output, next);
  for (size_t i = 0; i < names->config.num_exports; i++)
    keep_apart(names->export_paths[i], next);
  ppi_free(names);
  return PPROF_STATUS_OK;
}

static pprof_status prepare_run(running *run, const char *config_path,
                                pprof_error *error) {
  pprof_status status = ppi_compose_load(config_path, &run->config, error);
  return status == PPROF_STATUS_OK ? expand_paths(run, error) : status;
}

static pprof_status launch_run(running *run, pprof_error *error) {
  pprof_status status = create_session(run, error);
  if (status == PPROF_STATUS_OK) status = set_up_session(run, error);
  if (status == PPROF_STATUS_OK) status = add_sinks(run, error);
  if (status != PPROF_STATUS_OK) return status;
  calls->open_backends(run->config.backends);
  return plain_failure(error, calls->session_start(run->session),
                       "cannot start");
}

static bool is_same_run(const running *a, const running *b) {
  char *x = config_text(a);
  char *y = config_text(b);
  bool same = x && y && strcmp(x, y) == 0 && strcmp(a->output, b->output) == 0;
  free(x);
  free(y);
  return same;
}

// The program starts a session while injection's runs. What asks for the same
// is the same session. Otherwise injection's ends here, with files of its own,
// and the program's takes its place.
static pprof_status take_over(running *run, bool *out_adopted,
                              pprof_error *error) {
  *out_adopted = is_same_run(run, current);
  if (*out_adopted) {
    current->adopted = true;
    return PPROF_STATUS_OK;
  }
  return end_injected(run, error);
}

static pprof_status begin_run(running *run, const char *config_path,
                              bool *out_adopted, pprof_error *error) {
  pprof_status status = prepare_run(run, config_path, error);
  if (status == PPROF_STATUS_OK && current)
    status = take_over(run, out_adopted, error);
  if (status == PPROF_STATUS_OK && !*out_adopted)
    status = launch_run(run, error);
  return status;
}

static pprof_status start_locked(const char *config_path, pprof_error *error) {
  bool injected = current && current->injected && !current->adopted;
  // Asked before any file is made: a second start must not touch the first
  // one's outputs.
  if (!injected && (current || calls->session_current()))
    return ppi_fail(error, PPROF_STATUS_BUSY, "a session is running already");
  running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  bool adopted = false;
  pprof_status status = begin_run(run, config_path, &adopted, error);
  if (status != PPROF_STATUS_OK || adopted) {
    destroy_run(run);
    return status;
  }
  current = run;
  if (run->config.log)
    ppi_message(PPI_MESSAGE_INFO, "recording to %s", run->output);
  return PPROF_STATUS_OK;
}

// PPROF_NVTX=1: the program's NVTX calls are recorded, too, as far as the units
// they stand in have not looked for a tool yet. Whoever set the variable before
// has it.
static void point_nvtx_here(void) {
  static const char name[] = "libpprof_nvtx.so";
  const char *wanted = getenv("PPROF_NVTX");
  Dl_info own;
  char path[PATH_MAX];
  if (!wanted || strcmp(wanted, "1") != 0 || getenv("NVTX_INJECTION64_PATH") ||
      !dladdr(&real_calls, &own) || !realpath(own.dli_fname, path))
    return;
  char *slash = strrchr(path, '/');
  size_t room = sizeof path - (size_t)(slash + 1 - path);
  if (room <= sizeof name) return;
  memcpy(slash + 1, name, sizeof name);
  if (access(path, R_OK) == 0) setenv("NVTX_INJECTION64_PATH", path, 0);
}

pprof_status pprof_start(const char *config_path, pprof_error *error) {
  bool enabled = true;
  ppi_message_level level;
  pprof_error own = {""};
  pthread_once(&fork_once, watch_forks);
  pprof_status status = ppi_environment_enabled(&enabled, &own);
  if (status == PPROF_STATUS_OK && !enabled) return PPROF_STATUS_OK;
  point_nvtx_here();
  if (status == PPROF_STATUS_OK)
    status = ppi_environment_log_level(&level, &own);
  if (status == PPROF_STATUS_OK) {
    if (!take_lock())
      return ppi_fail(error, PPROF_STATUS_BUSY, "a session is being started");
    started_by_program = true;
    status = start_locked(config_path, &own);
    give_lock();
  }
  if (status == PPROF_STATUS_OK) return status;
  ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
}

// Of what injection started, the program stops only what it has adopted.
static pprof_status stop_own(pprof_error *error) {
  if (current && current->injected && !current->adopted) return PPROF_STATUS_OK;
  return stop_locked(error);
}

pprof_status pprof_stop(pprof_error *error) {
  pprof_error own = {""};
  if (!take_lock())
    return ppi_fail(error, PPROF_STATUS_BUSY, "a session is being started");
  pprof_status status = stop_own(&own);
  give_lock();
  if (status == PPROF_STATUS_OK) return status;
  ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
}

// The program starts a session of its own making: injection's ends.
static void yield_to_program(void) {
  pprof_error own = {""};
  if (!take_lock()) return;
  bool ours = current && current->injected && !current->adopted;
  started_by_program = true;
  if (ours && stop_locked(&own) != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  give_lock();
}

static pprof_status attach_locked(pprof_error *error) {
  if (tried_to_attach || current || started_by_program ||
      calls->session_current() || ppi_session_was_started())
    return PPROF_STATUS_OK;
  tried_to_attach = true;
  running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  run->injected = true;
  pprof_status status = prepare_run(run, NULL, error);
  if (status == PPROF_STATUS_OK) status = launch_run(run, error);
  if (status != PPROF_STATUS_OK) {
    destroy_run(run);
    return status;
  }
  current = run;
  ppi_session_set_yield(yield_to_program);
  if (run->config.log)
    ppi_message(PPI_MESSAGE_INFO, "recording to %s", run->output);
  return PPROF_STATUS_OK;
}

bool pprof_inject_attach_(void) {
  bool enabled = true;
  pprof_error own = {""};
  pprof_status status = ppi_environment_enabled(&enabled, &own);
  if (status == PPROF_STATUS_OK && !enabled) return false;
  pthread_once(&fork_once, watch_forks);
  if (status == PPROF_STATUS_OK && take_lock_soon()) {
    status = attach_locked(&own);
    give_lock();
  }
  if (status != PPROF_STATUS_OK) ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  return true;
}

void pprof_inject_flush_(void) {
  if (!take_lock_soon()) return;
  if (current && current->injected) pprof_session_flush(current->session);
  give_lock();
}

void pprof_inject_detach_(void) {
  pprof_error own = {""};
  if (!take_lock_soon()) return;
  tried_to_attach = true;
  if (current && current->injected && stop_locked(&own) != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  give_lock();
}
