// SPDX-License-Identifier: Apache-2.0
//
// Runs `merge`: writes the runs of several logs into one log.
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output.h"
#include "input/input.h"
#include "log/read/log_merge.h"
#include "verb/verbs.h"

// Reports repeated runs and damage of a merged input.
static int judge(const ppi_log_merge_input *input) {
  const ppi_log_damage *damage = &input->damage;
  if (input->num_repeated)
    ppi_tool_say(
        "%s: %zu of its runs %s in another input, too, and count%s once",
        input->name, input->num_repeated,
        input->num_repeated == 1 ? "is" : "are",
        input->num_repeated == 1 ? "s" : "");
  if (damage->num_bytes || damage->num_missing)
    return ppi_tool_fail(PPI_EXIT_DAMAGED,
                         "%s: %" PRIu64 " bytes unreadable, %" PRIu64
                         " blocks missing; the rest is copied",
                         input->name, damage->num_bytes, damage->num_missing);
  if (!input->complete)
    ppi_tool_say(
        "%s: unfinished, copied as it is; `pprof-report recover` adds "
        "what its spool has",
        input->name);
  return PPI_EXIT_DONE;
}

static int merge_logs(ppi_log_merge_input *inputs, size_t num,
                      const char *output) {
  static const int codes[] = {[PPI_LOG_MERGED] = PPI_EXIT_DONE,
                              [PPI_LOG_MERGE_BAD_INPUT] = PPI_EXIT_INPUT,
                              [PPI_LOG_MERGE_CONFLICT] = PPI_EXIT_INCOMPARABLE,
                              [PPI_LOG_MERGE_BAD_OUTPUT] = PPI_EXIT_USAGE};
  pprof_error error = {""};
  int code = codes[ppi_log_merge(inputs, num, output, &error)];
  if (code != PPI_EXIT_DONE) {
    ppi_tool_say("%s", error.text);
    return code;
  }
  for (size_t i = 0; i < num; i++)
    code = ppi_tool_worse(code, judge(&inputs[i]));
  ppi_tool_show(stderr, output);
  return code;
}

// Inputs that are no logs become logs first.
static int open_and_merge(const struct ppi_tool_options *options,
                          struct ppi_tool_log *logs,
                          ppi_log_merge_input *inputs) {
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    int answer = ppi_tool_log_open(options->inputs[i], &logs[i]);
    if (answer != PPI_EXIT_DONE && answer != PPI_EXIT_DAMAGED) return answer;
    code = ppi_tool_worse(code, answer);
    inputs[i].path = logs[i].path;
    inputs[i].name = options->inputs[i];
    inputs[i].imported = logs[i].made != NULL;
  }
  int merged = merge_logs(inputs, (size_t)options->num_inputs, options->output);
  return merged == PPI_EXIT_DONE ? code : merged;
}

int ppi_tool_merge(const struct ppi_tool_options *options) {
  if (!options->output || strcmp(options->output, "-") == 0)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'merge' needs a file to write to: --output FILE");
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  size_t num = (size_t)options->num_inputs;
  struct ppi_tool_log *logs = ppi_tool_must(calloc(num, sizeof(*logs)));
  ppi_log_merge_input *inputs = ppi_tool_must(calloc(num, sizeof(*inputs)));
  code = open_and_merge(options, logs, inputs);
  ppi_tool_output_share(options);
  for (size_t i = 0; i < num; i++) ppi_tool_log_close(&logs[i]);
  free(logs);
  free(inputs);
  return code;
}
