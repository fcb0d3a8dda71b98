// SPDX-License-Identifier: Apache-2.0
//
// Runs `import`: turns another profiler's trace into a log.
#include <stdlib.h>

#include "cli/output.h"
#include "input/input.h"
#include "verb/verbs.h"

// x.pt.trace.json.gz becomes x.pt.trace.pplog, any other name gets the ending.
static char *default_path(const char *input) {
  static const char *const endings[] = {".json.gz", ".json", ".gz"};
  size_t len = strlen(input);
  for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
    if (!ppi_ends_with(input, endings[i])) continue;
    len -= strlen(endings[i]);
    break;
  }
  char *path = malloc(len + sizeof(".pplog"));
  if (!path) return NULL;
  memcpy(path, input, len);
  strcpy(path + len, ".pplog");
  return path;
}

int ppi_tool_import(const struct ppi_tool_options *options) {
  if (options->num_inputs > 1)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'import' takes one trace, not %d; 'merge' joins logs",
                         options->num_inputs);
  const char *input = options->inputs[0];
  char *made = options->output ? NULL : default_path(input);
  const char *path = options->output ? options->output : made;
  int code = PPI_EXIT_USAGE;
  if (path && strcmp(path, "-") == 0)
    ppi_tool_say("a log cannot be written to stdout; name a file with -o");
  else if (path &&
           (code = ppi_tool_output_check_log(options, path)) == PPI_EXIT_DONE) {
    code = ppi_tool_write_log(input, path);
    ppi_tool_output_share(options);
    if (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED)
      ppi_tool_show(stderr, path);
  }
  free(made);
  return code;
}
