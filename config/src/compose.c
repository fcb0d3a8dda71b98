// SPDX-License-Identifier: Apache-2.0
//
// pprof_start and pprof_stop. One lock covers both; what they hold between them
// is one `run`. In a forked child there is no run: its threads are gone.
#include "compose.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_impl.h"
#include "environment.h"
#include "mem.h"

typedef struct running {
  ppi_config config;
  pprof_session *session;
  pprof_report *report;  // NULL: no export needs one
  char output[PATH_MAX];
  char export_paths[PPI_CONFIG_MAX_EXPORTS][PATH_MAX];
} running;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static running *current;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void open_backends(uint64_t backends) {
  if (backends & PPI_CONFIG_BACKEND_CPU)
    pprof_device_get(pprof_backend_cpu(), 0);
  if (backends & PPI_CONFIG_BACKEND_OPENCL)
    pprof_device_get(pprof_backend_opencl(), 0);
}

static const ppi_compose_calls real_calls = {
    .session_current = pprof_session_current,
    .session_create = pprof_session_create,
    .session_set_schedule = ppi_session_set_schedule,
    .session_set_device_mode = ppi_session_set_device_mode,
    .session_set_info = ppi_session_set_info,
    .session_add_sink = pprof_session_add_sink,
    .session_start = pprof_session_start,
    .session_stop = pprof_session_stop,
    .session_destroy = pprof_session_destroy,
    .log_writer_create = pprof_log_writer_create,
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
  pthread_mutex_init(&lock, NULL);
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

static pprof_status expand_export(running *run, size_t at, pprof_error *error) {
  const ppi_config_export *item = &run->config.exports[at];
  char *path = run->export_paths[at];
  pprof_status status = ppi_expand_path(&item->path, path, error);
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
    status = ppi_expand_path(&run->config.output, run->output, error);
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

static pprof_status set_config_text(running *run) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return PPROF_STATUS_NO_MEMORY;
  ppi_config_write(&run->config, out);
  pprof_status status =
      fclose(out) == 0 ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK)
    status = calls->session_set_info(run->session, "config", text);
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
  if (status == PPROF_STATUS_OK) status = set_config_text(run);
  return plain_failure(error, status, "cannot set up the session");
}

static pprof_status take_sink(running *run, pprof_sink *sink,
                              pprof_error *error) {
  pprof_status status = calls->session_add_sink(run->session, sink);
  if (status != PPROF_STATUS_OK && sink->destroy) sink->destroy(sink);
  return plain_failure(error, status, "cannot add an output");
}

static pprof_status add_log(running *run, pprof_error *error) {
  pprof_sink *sink;
  pprof_status status = calls->log_writer_create(run->output, &sink, error);
  return status == PPROF_STATUS_OK ? take_sink(run, sink, error) : status;
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

static pprof_status start_run(running *run, const char *config_path,
                              pprof_error *error) {
  pprof_status status = ppi_compose_load(config_path, &run->config, error);
  if (status == PPROF_STATUS_OK) status = expand_paths(run, error);
  if (status == PPROF_STATUS_OK) status = create_session(run, error);
  if (status == PPROF_STATUS_OK) status = set_up_session(run, error);
  if (status == PPROF_STATUS_OK) status = add_sinks(run, error);
  if (status != PPROF_STATUS_OK) return status;
  calls->open_backends(run->config.backends);
  return plain_failure(error, calls->session_start(run->session),
                       "cannot start");
}

static pprof_status start_locked(const char *config_path, pprof_error *error) {
  // Asked before any file is made: a second start must not touch the first
  // one's outputs.
  if (current || calls->session_current())
    return ppi_fail(error, PPROF_STATUS_BUSY, "a session is running already");
  running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = start_run(run, config_path, error);
  if (status != PPROF_STATUS_OK) {
    destroy_run(run);
    return status;
  }
  current = run;
  if (run->config.log)
    ppi_message(PPI_MESSAGE_INFO, "recording to %s", run->output);
  return PPROF_STATUS_OK;
}

pprof_status pprof_start(const char *config_path, pprof_error *error) {
  bool enabled = true;
  ppi_message_level level;
  pprof_error own = {""};
  pthread_once(&fork_once, watch_forks);
  pprof_status status = ppi_environment_enabled(&enabled, &own);
  if (status == PPROF_STATUS_OK && !enabled) return PPROF_STATUS_OK;
  if (status == PPROF_STATUS_OK)
    status = ppi_environment_log_level(&level, &own);
  if (status == PPROF_STATUS_OK) {
    pthread_mutex_lock(&lock);
    status = start_locked(config_path, &own);
    pthread_mutex_unlock(&lock);
  }
  if (status == PPROF_STATUS_OK) return status;
  ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
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

pprof_status pprof_stop(pprof_error *error) {
  pprof_error own = {""};
  pthread_mutex_lock(&lock);
  pprof_status status = stop_locked(&own);
  pthread_mutex_unlock(&lock);
  if (status == PPROF_STATUS_OK) return status;
  ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
}
