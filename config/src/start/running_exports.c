// SPDX-License-Identifier: Apache-2.0
//
// Writes the exports of a run: a trace or tables of all of it, or of each
// window. The session's completion thread writes those of windows.
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "file/file_io.h"
#include "log/write/log_loss.h"
#include "start/running_exports.h"
#include "start/running_paths.h"

enum { FILE_LIMIT_MS = 10000 };

// Exports of the run have a file from the start; it is written at the end.
static bool is_at_end(const ppi_config_export *item) {
  return item->format >= PPI_EXPORT_HTML;
}

static bool is_table(const ppi_config_export *item) {
  return item->format >= PPI_EXPORT_REPORT;
}

static pprof_status fail_write(const char *path, int why, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write %s: %s", path,
                  why == PPI_FILE_OVER_LIMIT ? "no room within 'disk_limit'"
                                             : ppi_log_loss_reason(why));
}

// ---- tables ----

static ppi_report_format format_of(const ppi_config_export *item) {
  return (ppi_report_format)(item->format - PPI_EXPORT_REPORT);
}

static ppi_report_options options_of(const ppi_config_export *item) {
  const char *views = item->views.text[0] ? item->views.text : NULL;
  return (ppi_report_options){
      .views = views,
      .style = ppi_report_usual_style(views, format_of(item)),
      .top = LONG_MIN};
}

static pprof_status fill(const ppi_running *run, const ppi_config_export *item,
                         const pprof_report *report, FILE *out,
                         pprof_error *error) {
  ppi_report_options options = options_of(item);
  pprof_status status =
      is_table(item)
          ? ppi_running_calls->report_write(report, &options, format_of(item),
                                            out)
          : ppi_running_calls->html_write_log(run->output, out, error);
  if (status == PPROF_STATUS_OK && (fflush(out) != 0 || ferror(out)))
    status = PPROF_STATUS_NO_MEMORY;
  return status;
}

// The thread that waits for the disk belongs to the library.
static pprof_status put_file(ppi_running *run, ppi_part *part, const char *path,
                             const char *text, size_t len, pprof_error *error) {
  bool counts = part->part_path.text[0];
  uint64_t limit_ms = ppi_running_calls->file_limit_ms;
  if (counts && !ppi_disk_room(run->disk, len))
    return fail_write(path, PPI_FILE_OVER_LIMIT, error);
  int failed =
      ppi_file_io_write(part, text, len, limit_ms ? limit_ms : FILE_LIMIT_MS);
  if (failed) return fail_write(path, failed, error);
  if (counts) ppi_disk_add(run->disk, path, len, true);
  return PPROF_STATUS_OK;
}

// Takes `part`.
static pprof_status write_table(ppi_running *run, const ppi_config_export *item,
                                const pprof_report *report, ppi_part *part,
                                pprof_error *error) {
  const ppi_path at = part->path;
  const char *path = at.text;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  pprof_status status =
      out ? fill(run, item, report, out, error)
          : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  if (out) fclose(out);
  if (out && status != PPROF_STATUS_OK)
    ppi_fail(error, status, "cannot write %s: %s", path,
             pprof_status_string(status));
  PPI_THEN(status, put_file(run, part, path, text, len, error));
  free(text);
  ppi_part_clear(part, true);  // if it was not taken
  return status;
}

// ---- of windows ----

static void keep_error(ppi_running *run, pprof_status status,
                       const pprof_error *error) {
  if (status == PPROF_STATUS_OK || run->window_status != PPROF_STATUS_OK)
    return;
  run->window_status = status;
  run->window_error = *error;
}

static pprof_status write_window(ppi_running *run, size_t at, uint32_t window,
                                 const pprof_report *report,
                                 pprof_error *error) {
  char path[PATH_MAX];
  ppi_part part;
  pprof_status status = ppi_expand_window(run->export_paths[at], window, path);
  if (status != PPROF_STATUS_OK)
    return ppi_fail(error, status, "the path of window %u is too long", window);
  PPI_TRY(ppi_part_open(path, NULL, &part, error));
  return write_table(run, &run->config.exports[at], report, &part, error);
}

static void write_windows(void *user, uint32_t window,
                          const pprof_report *report) {
  ppi_running *run = user;
  pprof_error error = {""};
  if (!report) {
    ppi_fail(&error, PPROF_STATUS_NO_MEMORY,
             "no memory for the report of window %u", window);
    keep_error(run, PPROF_STATUS_NO_MEMORY, &error);
    return;
  }
  for (size_t i = 0; i < run->config.num_exports; i++) {
    const ppi_config_export *item = &run->config.exports[i];
    if (!item->per_window || !is_table(item)) continue;
    pprof_status status = write_window(run, i, window, report, &error);
    keep_error(run, status, &error);
  }
}

// A trace, or a log, for each window.
typedef struct traces {
  ppi_running *run;
  size_t at;  // the index of the export
} traces;

static pprof_status make_trace(const ppi_running *run, const char *path,
                               pprof_sink **out, pprof_error *error) {
  pprof_status status =
      ppi_running_calls->chrome_writer_create(path, out, error);
  if (status == PPROF_STATUS_OK)
    ppi_running_calls->chrome_writer_set_disk(*out, run->disk);
  return status;
}

static bool is_log(const traces *self) {
  return self->run->config.exports[self->at].format == PPI_EXPORT_LOG;
}

static pprof_status make_log(const ppi_running *run, const char *path,
                             pprof_sink **out, pprof_error *error) {
  const ppi_log_rotation whole = {0, 0, run->disk};
  return ppi_running_calls->log_writer_create(path, &whole, out, error);
}

static pprof_sink *open_trace(void *user, uint32_t window) {
  const traces *self = user;
  char path[PATH_MAX];
  pprof_error error = {""};
  pprof_sink *sink = NULL;
  pprof_status status =
      ppi_expand_window(self->run->export_paths[self->at], window, path);
  if (status == PPROF_STATUS_OK)
    status =
        (is_log(self) ? make_log : make_trace)(self->run, path, &sink, &error);
  return status == PPROF_STATUS_OK ? sink : NULL;
}

// Reports an export that could not be opened: `open` runs on another thread.
static void complete_trace(void *user, uint32_t window, pprof_sink *sink,
                           pprof_status status) {
  const traces *self = user;
  char path[PATH_MAX] = "";
  pprof_error error = {""};
  ppi_expand_window(self->run->export_paths[self->at], window, path);
  if (!sink) status = PPROF_STATUS_IO;
  int why =
      sink && !is_log(self) ? ppi_running_calls->chrome_writer_error(sink) : 0;
  if (why)
    fail_write(path, why, &error);
  else
    ppi_fail(&error, status, "cannot write %s: %s", path,
             pprof_status_string(status));
  keep_error(self->run, status, &error);
  if (is_log(self) && status == PPROF_STATUS_OK)
    snprintf(self->run->window_log, sizeof self->run->window_log, "%s",
             ppi_running_calls->log_writer_path(sink));
  if (sink) sink->destroy(sink);
}

static pprof_status add_traces(ppi_running *run, size_t at,
                               pprof_error *error) {
  traces *self = ppi_alloc(sizeof *self);
  if (!self) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  *self = (traces){run, at};
  const ppi_window_maker maker = {open_trace, complete_trace, ppi_free, self,
                                  NULL};
  pprof_status status =
      ppi_running_calls->session_add_window_maker(run->session, &maker);
  if (status != PPROF_STATUS_OK) ppi_free(self);
  return ppi_running_plain_failure(error, status, "cannot add an output");
}

// ---- of the run ----

// Called after the window's files.
static void notify_program(void *user, uint32_t window,
                           const pprof_report *report) {
  ppi_running *run = user;
  const char *log = run->window_log[0] ? run->window_log : NULL;
  const pprof_window reported = {sizeof reported, window, report, log};
  run->in_code.on_window(run->in_code.user, &reported);
  run->window_log[0] = 0;
}

static pprof_status add_program(ppi_running *run, pprof_error *error) {
  if (!run->in_code.on_window) return PPROF_STATUS_OK;
  pprof_status status =
      ppi_running_calls->session_on_window(run->session, notify_program, run);
  return ppi_running_plain_failure(error, status, "cannot report windows");
}

static pprof_status add_trace(ppi_running *run, size_t at, pprof_error *error) {
  pprof_sink *sink;
  char *path = run->export_paths[at];
  if (run->config.exports[at].per_window) return add_traces(run, at, error);
  pprof_status status = make_trace(run, path, &sink, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_running_note_path(path, ppi_running_calls->chrome_writer_path(sink));
  status = ppi_running_take_sink(run, sink, error);
  if (status == PPROF_STATUS_OK) run->traces[at] = sink;
  return status;
}

void ppi_running_notify_trace(const ppi_running *run, pprof_error *error) {
  for (size_t i = 0; i < run->config.num_exports; i++) {
    int why = run->traces[i]
                  ? ppi_running_calls->chrome_writer_error(run->traces[i])
                  : 0;
    if (!why) continue;
    fail_write(run->export_paths[i], why, error);
    return;
  }
}

// The output of `pprof-report LOG`.
static ppi_report_options end_options(void) {
  return (ppi_report_options){
      .style = ppi_report_usual_style(NULL, PPI_FORMAT_TABLE), .top = LONG_MIN};
}

// A forked child's ranges are in its own log, and it does not see the run's
// end.
static bool prints_end(const ppi_running *run) {
  return run->config.report && !run->follows;
}

// One report serves all tables of the run.
static pprof_status add_report(ppi_running *run, pprof_error *error) {
  ppi_report_details details = {.warmup = -1};
  bool any = prints_end(run);
  if (any) {
    const ppi_report_options at_end = end_options();
    ppi_report_need(&at_end, PPI_FORMAT_TABLE, &details);
  }
  for (size_t i = 0; i < run->config.num_exports; i++) {
    const ppi_config_export *item = &run->config.exports[i];
    if (!is_table(item) || item->per_window) continue;
    any = true;
    ppi_report_options options = options_of(item);
    ppi_report_need(&options, format_of(item), &details);
  }
  if (!any) return PPROF_STATUS_OK;
  pprof_status status = ppi_running_calls->report_create(&run->report);
  if (status == PPROF_STATUS_OK)
    ppi_running_calls->report_set_details(run->report, &details);
  PPI_TRY(ppi_running_plain_failure(error, status, "cannot make a report"));
  return ppi_running_take_sink(run, ppi_running_calls->report_sink(run->report),
                               error);
}

// Opening a pipe waits for its reader: too early here.
static pprof_status claim(ppi_running *run, size_t at, pprof_error *error) {
  ppi_part *part = &run->export_parts[at];
  char *path = run->export_paths[at];
  if (ppi_part_goes_in_place(path)) return PPROF_STATUS_OK;
  pprof_status status = ppi_part_open(path, NULL, part, error);
  if (status == PPROF_STATUS_OK) ppi_running_note_path(path, part->path.text);
  return status;
}

static pprof_status add_tables(ppi_running *run, pprof_error *error) {
  pprof_status status = add_report(run, error);
  bool of_windows = false;
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++) {
    const ppi_config_export *item = &run->config.exports[i];
    if (!is_at_end(item)) continue;
    of_windows = of_windows || item->per_window;
    if (!item->per_window) status = claim(run, i, error);
  }
  if (status != PPROF_STATUS_OK || !of_windows) return status;
  status =
      ppi_running_calls->session_on_window(run->session, write_windows, run);
  return ppi_running_plain_failure(error, status, "cannot add an output");
}

pprof_status ppi_running_add_exports(ppi_running *run, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++)
    if (!is_at_end(&run->config.exports[i])) status = add_trace(run, i, error);
  if (status == PPROF_STATUS_OK) status = add_tables(run, error);
  return status == PPROF_STATUS_OK ? add_program(run, error) : status;
}

static pprof_status write_one(ppi_running *run, size_t at, pprof_error *error) {
  ppi_part *part = &run->export_parts[at];
  pprof_status status = PPROF_STATUS_OK;
  if (!part->path.text[0])
    status = ppi_part_open(run->export_paths[at], NULL, part, error);
  if (status != PPROF_STATUS_OK) return status;
  return write_table(run, &run->config.exports[at], run->report, part, error);
}

// With stderr closed, nobody reads the table.
static void print_end(const ppi_running *run) {
  if (!prints_end(run)) return;
  const ppi_report_options options = end_options();
  ppi_running_calls->report_write(run->report, &options, PPI_FORMAT_TABLE,
                                  stderr);
  fflush(stderr);
}

pprof_status ppi_running_write_exports(ppi_running *run, pprof_status first,
                                       pprof_error *error) {
  print_end(run);
  for (size_t i = 0; i < run->config.num_exports; i++) {
    const ppi_config_export *item = &run->config.exports[i];
    if (!is_at_end(item) || item->per_window) continue;
    pprof_error later;
    bool is_first = first == PPROF_STATUS_OK;
    pprof_status status = write_one(run, i, is_first ? error : &later);
    if (is_first) first = status;
  }
  if (first != PPROF_STATUS_OK || run->window_status == PPROF_STATUS_OK)
    return first;
  if (error) *error = run->window_error;
  return run->window_status;
}

void ppi_running_drop_exports(ppi_running *run) {
  for (size_t i = 0; i < run->config.num_exports; i++)
    if (run->export_parts[i].path.text[0])
      ppi_part_clear(&run->export_parts[i], true);
}
