// SPDX-License-Identifier: Apache-2.0
//
// Reads the runs of all inputs into one sink.
#include "verb/read_runs.h"

#include "input/input.h"

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
