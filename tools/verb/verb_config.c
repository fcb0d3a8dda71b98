// SPDX-License-Identifier: Apache-2.0
//
// Runs `config`: validates a configuration, prints the values in force with
// their origin, and lists the keys. All come from the table that pprof_start
// reads.
#include <errno.h>
#include <stdlib.h>

#include "cli/output.h"
#include "start/compose.h"
#include "start/environment.h"
#include "verb/verbs.h"

static int code_of(pprof_status status) {
  if (status == PPROF_STATUS_OK) return PPI_EXIT_DONE;
  return status == PPROF_STATUS_CONFIG ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
}

static void say(void *user, const pprof_error *error) {
  (void)user;
  ppi_tool_say("%s", error->text);
}

// Validates the file alone, without the environment.
static int validate_file(const char *path, ppi_config *config, FILE *out) {
  const ppi_config_refusals refusals = {say, NULL};
  ppi_page line = {0};
  pprof_status status = ppi_config_validate(config, path, &refusals);
  if (status == PPROF_STATUS_OK) ppi_tool_put(&line, "%s: valid\n", path);
  ppi_page_write(&line, out);
  return code_of(status);
}

static int validate(const struct ppi_tool_options *options, ppi_config *config,
                    FILE *out) {
  int code = PPI_EXIT_DONE;
  if (options->num_inputs < 2)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'config validate' needs FILE...");
  for (int i = 1; i < options->num_inputs; i++)
    code = ppi_tool_worse(code, validate_file(options->inputs[i], config, out));
  return code;
}

static void say_text(const char *text) {
  ppi_tool_say("%s", text);
}

static int show(const struct ppi_tool_options *options, ppi_config *config,
                FILE *out) {
  pprof_error error = {""};
  if (options->num_inputs > 2)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'config show' takes one FILE");
  const char *path = options->num_inputs == 2 ? options->inputs[1] : NULL;
  ppi_environment_unknown(say_text);
  pprof_status status = ppi_compose_load(path, config, &error);
  if (status != PPROF_STATUS_OK)
    ppi_tool_say("%s", error.text);
  else if (options->origin)
    ppi_config_write_origins(config, out);
  else
    ppi_config_write(config, out);
  return code_of(status);
}

static int schema(const struct ppi_tool_options *options, ppi_config *config,
                  FILE *out) {
  (void)config;
  if (options->num_inputs > 1)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'config schema' takes no operand");
  ppi_config_json_schema(out);
  return PPI_EXIT_DONE;
}

static const struct {
  const char *name;
  int (*run)(const struct ppi_tool_options *options, ppi_config *config,
             FILE *out);
} actions[] = {{"validate", validate}, {"show", show}, {"schema", schema}};
enum { NUM_ACTIONS = sizeof actions / sizeof *actions };

int ppi_tool_config(const struct ppi_tool_options *options) {
  const char *name = options->inputs[0];
  size_t action = 0;
  while (action < NUM_ACTIONS && strcmp(actions[action].name, name) != 0)
    action++;
  if (action == NUM_ACTIONS)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'config' has no '%s'; it has validate, show and schema", name);
  ppi_config *config = ppi_tool_must(calloc(1, sizeof *config));
  FILE *out;
  int code = ppi_tool_output_open(options, &out);
  if (code == PPI_EXIT_DONE) {
    errno = 0;
    code = actions[action].run(options, config, out);
    code = ppi_tool_output_close(options, out, errno, code);
  }
  free(config);
  return code;
}
