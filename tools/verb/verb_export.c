// SPDX-License-Identifier: Apache-2.0
//
// Runs `export`: writes the runs of one or several logs in another format.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/look.h"
#include "cli/output.h"
#include "export/export.h"
#include "file/part.h"
#include "input/input.h"
#include "verb/verbs.h"
#include "view/fit.h"

int ppi_tool_export_operands(struct ppi_tool_options *options) {
  if (options->to.list) {
    options->num_inputs = 0;
    return PPI_EXIT_DONE;
  }
  if (options->num_inputs < 2)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'export' needs FORMAT LOG...; see pprof-report export --list");
  options->to.format = options->inputs[0];
  options->num_inputs--;
  memmove(options->inputs, options->inputs + 1,
          sizeof(*options->inputs) * (size_t)(options->num_inputs + 1));
  return ppi_export_find(options->to.format) ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

static int list_formats(const struct ppi_tool_options *options) {
  enum { INDENT = 32 };
  const ppi_export_format *const *format = ppi_export_formats();
  ppi_report_options look = {.width = 0};
  ppi_tool_look(options, &look);
  ppi_page page = {.width = look.width};
  ppi_page_format(&page, "%-12s %-18s %s\n", "format", "ending",
                  "holds; opened by");
  for (; *format; format++) {
    ppi_page line = {0};
    ppi_page_format(&line, "%s; %s", (*format)->holds, (*format)->opened_by);
    ppi_page_format(&page, "%-12s %-18s ", (*format)->name, (*format)->ending);
    ppi_page_wrapped(&page, line.failed ? "" : line.bytes, INDENT);
    page.failed |= line.failed;
    ppi_page_clear(&line);
  }
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}

// A file that gets its name when it is whole, or standard output, or a folder
// (`file` is NULL).
struct made_file {
  ppi_part part;
  FILE *file;
  bool is_stdout;
};

static int cannot_write(const char *path, const char *reason) {
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: cannot write: %s", path, reason);
}

static int open_file(const char *path, struct made_file *out) {
  pprof_error error = {""};
  out->is_stdout = strcmp(path, "-") == 0;
  out->file = stdout;
  if (out->is_stdout) return PPI_EXIT_DONE;
  if (ppi_part_open(path, NULL, &out->part, &error) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", error.text);
  int reason = out->part.fd < 0 ? ppi_part_open_pipe(&out->part) : 0;
  int fd = reason ? -1 : dup(out->part.fd);
  out->file = fd < 0 ? NULL : fdopen(fd, "w");
  if (out->file) return PPI_EXIT_DONE;
  if (!reason) reason = errno;
  if (fd >= 0) close(fd);
  ppi_part_clear(&out->part, out->part.part_path.text[0]);
  return cannot_write(path, strerror(reason));
}

// `code` is the exit code of the write. The file gets its name if there is a
// result.
static int close_file(const char *path, struct made_file *made, int code) {
  if (made->is_stdout || !made->file) return code;
  int reason = fclose(made->file) == 0 ? 0 : errno;
  bool is_whole = code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED;
  if (is_whole && !reason && made->part.part_path.text[0])
    reason = ppi_part_commit(&made->part);
  bool named = is_whole && !reason;
  ppi_part_clear(&made->part, !named && made->part.part_path.text[0]);
  return is_whole && reason ? cannot_write(path, strerror(reason)) : code;
}

static int export_runs(const struct ppi_tool_options *options,
                       const ppi_export_format *format, ppi_export *export) {
  pprof_error error = {""};
  bool is_nsys = strcmp(options->to.schema, "nsys") == 0;
  export->parts = is_nsys ? format->nsys_parts : format->parts;
  int code = ppi_tool_read_runs(options, &export->sink, "exported");
  bool is_failed = code == PPI_EXIT_INPUT;
  if (is_failed && !format->is_folder) return code;
  if (export->format->close(export, &error) != PPROF_STATUS_OK) {
    bool is_gone = errno == EPIPE && strcmp(options->output, "-") == 0;
    if (!is_gone) ppi_tool_say("%s: %s", options->output, error.text);
    return is_gone || is_failed ? code : PPI_EXIT_USAGE;
  }
  ppi_export_say_left(format->name, export);
  return code;
}

// A missing folder is made last; the content of an existing one is not checked.
static int open_target(const struct ppi_tool_options *options, bool is_folder,
                       struct made_file *made) {
  if (!is_folder) {
    int code = ppi_tool_output_check(options, options->output);
    return code == PPI_EXIT_DONE ? open_file(options->output, made) : code;
  }
  if (strcmp(options->output, "-") != 0) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s is a folder: --output FOLDER",
                       options->to.format);
}

static int export_to(const struct ppi_tool_options *options,
                     const ppi_export_format *format) {
  struct made_file made = {.file = NULL};
  pprof_error error = {""};
  int code = open_target(options, format->is_folder, &made);
  if (code != PPI_EXIT_DONE) return code;
  const ppi_export_target target = {.file = made.file,
                                    .path = format->is_folder ? options->output
                                            : made.part.part_path.text[0]
                                                ? made.part.part_path.text
                                                : NULL,
                                    .replaces = options->force,
                                    .schema = options->to.schema};
  ppi_export *export = ppi_export_open(format, &target, &error);
  if (!export) {
    ppi_tool_say("%s", error.text);
    return close_file(options->output, &made, PPI_EXIT_USAGE);
  }
  if (format->is_folder) code = ppi_tool_output_folder(options->output);
  if (code == PPI_EXIT_DONE) code = export_runs(options, format, export);
  ppi_export_destroy(export);
  code = close_file(options->output, &made, code);
  if (!made.is_stdout && (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED))
    ppi_tool_show(stderr, options->output);
  return code;
}

int ppi_tool_read_runs(const struct ppi_tool_options *options, pprof_sink *sink,
                       const char *done) {
  struct ppi_tool_runs met = {.items = NULL};
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    struct ppi_tool_watch watch;
    int answer = ppi_tool_read_once(path, path, sink, &watch, &met);
    if (watch.sink_failed) {
      ppi_tool_say("%s: cannot be %s: %s", path, done,
                   pprof_status_string(watch.sink_status));
      answer = PPI_EXIT_INPUT;
    }
    if (answer > code) code = answer;
    if (watch.sink_failed) break;
  }
  ppi_tool_runs_clear(&met);
  return code;
}

int ppi_tool_export(const struct ppi_tool_options *options) {
  if (options->to.list) return list_formats(options);
  const ppi_export_format *format = ppi_export_find(options->to.format);
  if (!format->nsys_parts && strcmp(options->to.schema, "own") != 0)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s has one schema: its own",
                         format->name);
  struct ppi_tool_options chosen;
  char *made;
  int code = ppi_tool_output_name(options, format->ending, &chosen, &made);
  if (code != PPI_EXIT_DONE) return code;
  code = export_to(&chosen, format);
  ppi_tool_output_share(&chosen);
  free(made);
  return code;
}
