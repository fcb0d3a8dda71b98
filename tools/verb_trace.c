// SPDX-License-Identifier: Apache-2.0
//
// `trace`: a log becomes a Chrome trace.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chrome.h"
#include "input.h"
#include "output.h"
#include "verbs.h"

// LOG.pplog becomes LOG.trace.json, any other name gets that ending.
static char *default_path(const char *input) {
  static const char *const endings[] = {".pplog.part", ".pplog", ".part",
                                        ".spool"};
  size_t len = strlen(input);
  for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
    size_t ending_len = strlen(endings[i]);
    if (len > ending_len && strcmp(input + len - ending_len, endings[i]) == 0) {
      len -= ending_len;
      break;
    }
  }
  char *path = malloc(len + sizeof(".trace.json"));
  if (!path) return NULL;
  memcpy(path, input, len);
  strcpy(path + len, ".trace.json");
  return path;
}

static pprof_status open_writer(const char *path, bool to_stdout,
                                pprof_sink **out, pprof_error *error) {
  return to_stdout
             ? ppi_chrome_writer_create_fd(STDOUT_FILENO, false, out, error)
             : pprof_chrome_writer_create(path, out, error);
}

static int write_trace(const char *input, const char *path) {
  bool to_stdout = strcmp(path, "-") == 0;
  pprof_sink *sink;
  pprof_error error = {""};
  if (open_writer(path, to_stdout, &sink, &error) != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    return PPI_EXIT_USAGE;
  }
  struct ppi_tool_watch watch;
  int code = ppi_tool_read(input, sink, &watch);
  int reason = ((const ppi_chrome_writer *)sink)->out.error_number;
  sink->destroy(sink);
  if (watch.sink_failed && to_stdout && reason == EPIPE) return code;
  if (watch.sink_failed) {
    ppi_tool_say("%s: cannot write: %s", to_stdout ? "stdout" : path,
                 reason ? strerror(reason) : "out of memory");
    return PPI_EXIT_USAGE;
  }
  // Standard error: with `-o -` the trace itself goes to standard output.
  if (watch.finished && !to_stdout) fprintf(stderr, "%s\n", path);
  return code;
}

int ppi_tool_trace(const struct ppi_tool_options *options) {
  if (options->num_inputs > 1) {
    ppi_tool_say("'trace' takes one log, not %d", options->num_inputs);
    return PPI_EXIT_USAGE;
  }
  char *made = options->output ? NULL : default_path(options->inputs[0]);
  const char *path = options->output ? options->output : made;
  int code = PPI_EXIT_USAGE;
  if (path) {
    code = ppi_tool_output_check(options, path);
    if (code == PPI_EXIT_DONE) code = write_trace(options->inputs[0], path);
  }
  free(made);
  return code;
}
