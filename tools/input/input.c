// SPDX-License-Identifier: Apache-2.0
//
// Reads logs, spools and traces into a sink.
#include "input/input.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/processors.h"
#include "cli/progress.h"
#include "event/columns.h"
#include "event/event.h"
#include "import/import.h"
#include "input/joined.h"
#include "input/segments.h"
#include "json/hash.h"
#include "log/read/log_reader.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"
#include "pprof/log.h"
#include "schema/schema.h"
#include "start/compose.h"

// One line for all inputs: its delay of a second counts from the first input.
static struct ppi_tool_progress progress;

static struct ppi_tool_watch *watch_of(pprof_sink *sink) {
  return (struct ppi_tool_watch *)sink;
}

// Notes a failure of the sink, as distinct from the reader's.
static pprof_status note(struct ppi_tool_watch *watch, pprof_status status) {
  if (status != PPROF_STATUS_OK) {
    watch->sink_failed = true;
    watch->sink_status = status;
  }
  return status;
}

#define FORWARD(sink, callback, ...)                  \
  struct ppi_tool_watch *watch = watch_of(sink);      \
  if (watch->repeated) return PPROF_STATUS_OK;        \
  if (!watch->next->callback) return PPROF_STATUS_OK; \
  return note(watch, watch->next->callback(watch->next, __VA_ARGS__))

static bool is_repeated(const struct ppi_tool_watch *watch,
                        const pprof_run_info *info) {
  const char *uuid = pprof_run_info_text(info, "uuid"), *before;
  bool repeated =
      watch->runs && ppi_tool_run_meet(watch->runs, uuid, ppi_segment_of(info),
                                       watch->path, &before);
  if (watch->is_quiet) return repeated;
  if (repeated)
    ppi_tool_say("%s: run %s is in %s, too, and counts once", watch->path, uuid,
                 before);
  else if (watch->runs && before)
    ppi_tool_say(
        "%s: other segments of run %s are in %s; `pprof-report merge` "
        "puts each in once",
        watch->path, uuid, before);
  return repeated;
}

static pprof_status watch_begin(pprof_sink *sink, const pprof_run_info *info) {
  watch_of(sink)->repeated = is_repeated(watch_of(sink), info);
  watch_of(sink)->num_repeated += watch_of(sink)->repeated;
  watch_of(sink)->begun |= !watch_of(sink)->repeated;
  FORWARD(sink, begin, info);
}

static pprof_status watch_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  FORWARD(sink, define, definition);
}

static pprof_status watch_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_tool_progress_events(&progress, batch->num_events);
  FORWARD(sink, events, batch);
}

static pprof_status watch_checkpoint(pprof_sink *sink,
                                     const pprof_checkpoint *checkpoint) {
  FORWARD(sink, checkpoint, checkpoint);
}

static pprof_status watch_window(pprof_sink *sink, uint32_t index, bool opens,
                                 uint64_t time_ns) {
  FORWARD(sink, window, index, opens, time_ns);
}

// Prints the reader's own note on the log.
static void say_note(const char *path, const ppi_text *note) {
  if (strcmp(note->key, "segments") == 0)
    ppi_tool_say("%s: segments %s", path, note->value);
  if (strcmp(note->key, "definitions") == 0)
    ppi_tool_say("%s: definitions: %s", path, note->value);
}

static pprof_status watch_finish(pprof_sink *sink, const pprof_totals *totals) {
  watch_of(sink)->finished = true;
  if (watch_of(sink)->repeated) return PPROF_STATUS_OK;
  static const ppi_total_key losses[] = {PPI_TOTAL_LOST, PPI_TOTAL_FLOWS_LOST,
                                         PPI_TOTAL_NAMES_OVERFLOWED};
  for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
    watch_of(sink)->num_lost +=
        ppi_totals_get(totals, PPROF_ALL_LANES, losses[i]);
  for (size_t i = 0; i < totals->num_notes && !watch_of(sink)->is_quiet; i++)
    say_note(watch_of(sink)->path, &totals->notes[i]);
  FORWARD(sink, finish, totals);
}

static void watch_init(struct ppi_tool_watch *watch, const char *path,
                       pprof_sink *next, struct ppi_tool_runs *runs) {
  *watch = (struct ppi_tool_watch){
      .base = {.size = sizeof(pprof_sink), PPI_SINK_CALLBACKS(watch_)},
      .next = next,
      .path = path,
      .runs = runs};
  watch->base.size |= next->size & PPI_IN_COLUMNS;
  // Without a callback the reader does not decode events.
  if (!next->events) watch->base.events = NULL;
}

static void show_bytes(void *context, uint64_t done, uint64_t total) {
  (void)context;
  ppi_tool_progress_bytes(&progress, done, total);
}

static const char *device_process;
static ppi_config_chosen chosen;
static const ppi_choice *choice;
static bool by_shape, by_stack;
static uint32_t num_callers;

void ppi_tool_set_device_process(const char *pattern) {
  device_process = pattern;
}

int ppi_tool_set_config(const char *path) {
  static ppi_config config;
  pprof_error error = {""};
  if (!path) return PPI_EXIT_DONE;
  if (ppi_compose_load(path, &config, &error) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", error.text);
  ppi_config_choice(&config, &chosen);
  choice = &chosen.choice;
  return PPI_EXIT_DONE;
}

static bool take_stack(const char *text, size_t len) {
  enum { STEM = 6, MOST_DIGITS = 4 };
  if (len <= STEM || len > STEM + MOST_DIGITS || memcmp(text, "stack=", STEM))
    return false;
  num_callers = 0;
  for (size_t i = STEM; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    num_callers = num_callers * 10 + (uint32_t)(text[i] - '0');
  }
  by_stack = true;
  return true;
}

int ppi_tool_set_group_by(const char *what) {
  for (const char *at = what; at;) {
    size_t len = strcspn(at, ",");
    if (len == 5 && memcmp(at, "shape", len) == 0)
      by_shape = true;
    else if (!take_stack(at, len))
      return ppi_tool_fail(
          PPI_EXIT_USAGE,
          "'--group-by %s' is not shape, stack=N or both with a comma", what);
    at = at[len] ? at + len + 1 : NULL;
  }
  return PPI_EXIT_DONE;
}

// Prints a text once for each input, since some verbs read an input twice.
static void say_once(void *context, const char *text) {
  enum { MOST = 256 };
  static uint64_t said[MOST];
  static size_t num_said;
  const char *path = context;
  uint64_t hash = ppi_hash_bytes(1, path, strlen(path));
  hash = ppi_hash_bytes(hash, text, strlen(text));
  for (size_t i = 0; i < num_said; i++)
    if (said[i] == hash) return;
  if (num_said < MOST) said[num_said++] = hash;
  ppi_tool_progress_clear(&progress);
  ppi_tool_say("%s: %s", path, text);
}

// ---- jobs ----

static long num_jobs = LONG_MIN;
static ppi_jobs *all_jobs;

void ppi_tool_set_jobs(long num) {
  num_jobs = num;
}

void ppi_tool_end_jobs(void) {
  ppi_jobs_destroy(all_jobs);
  all_jobs = NULL;
}

// Small logs are read before threads have begun.
long ppi_tool_num_jobs(const char *const *paths, size_t num) {
  // More than these bring little to one log.
  enum { LEAST_BYTES = 1 << 17, USUAL_THREADS = 8, MOST_THREADS = 256 };
  off_t sum = 0;
  struct stat file;
  for (size_t i = 0; i < num; i++)
    if (stat(paths[i], &file) == 0) sum += file.st_size;
  long usual = PPI_MIN((long)ppi_num_processors(), (long)USUAL_THREADS);
  long wanted = num_jobs == LONG_MIN ? usual : num_jobs;
  if (wanted < 2 || (num_jobs == LONG_MIN && sum < LEAST_BYTES)) return 1;
  return PPI_MIN(wanted, MOST_THREADS);
}

static ppi_jobs *jobs_for(const char *const *paths, size_t num) {
  long wanted = ppi_tool_num_jobs(paths, num);
  if (wanted > 1 && !all_jobs) all_jobs = ppi_jobs_create((unsigned)wanted);
  return wanted > 1 ? all_jobs : NULL;
}

ppi_jobs *ppi_tool_jobs(const char *path) {
  struct ppi_tool_segments segments;
  ppi_tool_segments_of(&path, &segments);
  ppi_jobs *jobs = jobs_for(segments.paths, segments.num);
  ppi_tool_segments_clear(&segments);
  return jobs;
}

// ---- reading ----

static pprof_status read_logs(const char *const *paths, size_t num, bool skims,
                              pprof_sink *sink, pprof_error *error) {
  const char **whole = ppi_tool_must(calloc(num, sizeof(*whole)));
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < num && status == PPROF_STATUS_OK; i++)
    status = ppi_tool_join(paths[i], &whole[i], error);
  PPI_THEN(status, skims ? ppi_log_skim_all(whole, num, sink, error)
                         : ppi_log_read_ahead(whole, num, jobs_for(paths, num),
                                              sink, error));
  free(whole);
  return status;
}

static pprof_status read_any(const char *path, bool skims, pprof_sink *sink,
                             pprof_error *error) {
  const ppi_import_options how = {show_bytes,     say_once, (void *)path,
                                  device_process, by_shape, by_stack,
                                  num_callers,    choice};
  struct ppi_tool_segments segments;
  ppi_tool_segments_of(&path, &segments);
  pprof_status status =
      segments.paths == &path && ppi_import_is_trace(path)
          ? ppi_import_read(path, sink, &how, error)
          : read_logs(segments.paths, segments.num, skims, sink, error);
  ppi_tool_segments_clear(&segments);
  return status;
}

static int deliver(const char *path, bool skims, struct ppi_tool_watch *watch) {
  pprof_error error = {""};
  if (!progress.now_ns) ppi_tool_progress_open(&progress);
  ppi_tool_progress_begin(&progress, path);
  pprof_status status = read_any(path, skims, &watch->base, &error);
  ppi_tool_progress_clear(&progress);
  if (status == PPROF_STATUS_OK || watch->sink_failed) return PPI_EXIT_DONE;
  if (!watch->is_quiet) ppi_tool_failed(PPI_EXIT_INPUT, status, &error);
  // The reader finishes the sink if it delivered anything.
  return status == PPROF_STATUS_CORRUPT && watch->finished ? PPI_EXIT_DAMAGED
                                                           : PPI_EXIT_INPUT;
}

int ppi_tool_read(const char *path, pprof_sink *sink,
                  struct ppi_tool_watch *watch) {
  return ppi_tool_read_once(path, path, sink, watch, NULL);
}

int ppi_tool_read_once(const char *path, const char *name, pprof_sink *sink,
                       struct ppi_tool_watch *watch,
                       struct ppi_tool_runs *runs) {
  watch_init(watch, name, sink, runs);
  return deliver(path, false, watch);
}

int ppi_tool_read_again(const char *path, pprof_sink *sink,
                        struct ppi_tool_watch *watch,
                        struct ppi_tool_runs *runs) {
  watch_init(watch, path, sink, runs);
  watch->is_quiet = true;
  return deliver(path, false, watch);
}

int ppi_tool_skim(const char *path, pprof_sink *sink, bool is_quiet,
                  struct ppi_tool_watch *watch, struct ppi_tool_runs *runs) {
  watch_init(watch, path, sink, runs);
  watch->is_quiet = is_quiet;
  return deliver(path, true, watch);
}

// A writer does not overwrite a file: it takes another name. The caller has
// checked that this file may be replaced.
static int put_in_place(const pprof_sink *writer, const char *path) {
  if (!ppi_log_writer_note(writer)[0]) return PPI_EXIT_DONE;
  const char *made = ppi_log_writer_path(writer);
  if (rename(made, path) == 0) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "%s: cannot replace it: %s; the log is %s", path,
                       strerror(errno), made);
}

int ppi_tool_write_log(const char *input, const char *path) {
  struct ppi_tool_watch watch;
  pprof_sink *writer;
  pprof_error error = {""};
  if (pprof_log_writer_create(path, &writer, &error) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", error.text);
  int code = ppi_tool_read(input, writer, &watch);
  if (watch.sink_failed) {
    const char *reason = ppi_log_writer_error(writer);
    ppi_tool_say("%s",
                 reason[0] ? reason : pprof_status_string(watch.sink_status));
    code = PPI_EXIT_USAGE;
  } else if (watch.finished) {
    int placed = put_in_place(writer, path);
    if (placed != PPI_EXIT_DONE) code = placed;
  }
  writer->destroy(writer);
  return code;
}

// Whether the log is no segment of several: a reader joins segments.
static bool stands_alone(const char *path) {
  struct ppi_tool_segments segments;
  ppi_tool_segments_of(&path, &segments);
  bool alone = segments.num == 1;
  ppi_tool_segments_clear(&segments);
  return alone;
}

int ppi_tool_log_open(const char *path, struct ppi_tool_log *out) {
  pprof_error error = {""};
  *out = (struct ppi_tool_log){.path = path, .name = path};
  bool is_trace = ppi_import_is_trace(path);
  if (!is_trace && (!stands_alone(path) ||
                    ppi_tool_join(path, &out->path, &error) == PPROF_STATUS_OK))
    return PPI_EXIT_DONE;
  out->made = is_trace ? ppi_tool_private_log(path, &error) : NULL;
  if (!out->made) return ppi_tool_fail(PPI_EXIT_INPUT, "%s", error.text);
  out->path = out->made;
  return ppi_tool_write_log(path, out->made);
}

void ppi_tool_log_close(struct ppi_tool_log *log) {
  ppi_tool_private_log_remove(log->made);
  log->made = NULL;
}
