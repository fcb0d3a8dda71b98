// SPDX-License-Identifier: Apache-2.0
//
// Runs `try`: runs commands in turns until it is sure which one is faster,
// stage by stage.
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/output.h"
#include "compare/compare_provenance.h"
#include "compare/compare_ratio.h"
#include "compare/compare_turns.h"
#include "compare/compare_wanted.h"
#include "input/folder.h"
#include "input/input.h"
#include "launch/child.h"
#include "verb/trial.h"
#include "verb/verbs.h"

struct attempt {
  const struct ppi_tool_options *options;
  ppi_wanted wanted;
  ppi_trial trial;
  size_t max_runs, num_commands;  // the base first
  const char *commands[1 + PPI_TURNS_MOST];
  ppi_samples *warm;  // of each command: of the run that is not counted
  const ppi_compare_stage **stages;
  size_t num_stages;
  double *figures;  // of this round, in logarithms, by command and stage
  double *means;    // of all rounds
  size_t *counts;
  ppi_turns turns;
  ppi_page notes;
};

// Reads the logs of a run, and deletes them unless they are to be kept.
static int read_logs(const struct attempt *attempt, const char *prefix,
                     ppi_samples *samples) {
  ppi_tool_paths logs = {0};
  int code = ppi_tool_folder_list(attempt->trial.folder, &logs, NULL);
  for (size_t i = 0; i < logs.num && code == PPI_EXIT_DONE; i++) {
    const char *name = strrchr(logs.items[i], '/') + 1;
    struct ppi_tool_watch watch;
    if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
    code = ppi_tool_read(logs.items[i], &samples->base, &watch);
    if (!attempt->options->run.logs) unlink(logs.items[i]);
  }
  ppi_tool_paths_clear(&logs);
  if (code == PPI_EXIT_DONE && samples->num_stages == 0) {
    ppi_tool_say(
        "nothing was recorded; mark the stages with pprof or NVTX, and write "
        "the log where PPROF_OUTPUT says");
    code = PPI_EXIT_INPUT;
  }
  return code;
}

static int stop(int number) {
  ppi_tool_say("interrupted");
  return 128 + number;
}

static int run_one(const struct attempt *attempt, size_t command, size_t run,
                   ppi_samples *samples) {
  const char *const words[] = {"sh", "-c", attempt->commands[command], NULL};
  char prefix[64], which[32] = "base";
  bool started;
  if (ppi_trial_asked()) return stop(ppi_trial_asked());
  if (command) snprintf(which, sizeof which, "new-%zu", command);
  snprintf(prefix, sizeof prefix, "%s.%zu.", which, run);
  ppi_trial_set_output(attempt->trial.folder, prefix);
  int code = ppi_trial_run((char *const *)words, STDERR_FILENO,
                           attempt->options->keeps_sigpipe, &started);
  if (!started) return PPI_EXIT_USAGE;
  int asked = code == 128 + 2 ? 2 : ppi_tool_child_end_asked();
  if (asked) return stop(asked);
  if (code) {
    ppi_tool_say("%s, run %zu: %s %d; each run must exit with 0", which, run,
                 code > 128 ? "signal" : "exit",
                 code > 128 ? code - 128 : code);
    return PPI_EXIT_CHECK;
  }
  ppi_tool_recover_logs_in(attempt->trial.folder);
  return read_logs(attempt, prefix, samples);
}

// ---- before the first run that counts ----

static bool is_everywhere(const struct attempt *attempt,
                          const ppi_compare_stage *stage) {
  for (size_t i = 1; i < attempt->num_commands; i++)
    if (!ppi_samples_find(&attempt->warm[i], stage)) return false;
  return true;
}

static int find_stages(struct attempt *attempt) {
  const ppi_samples *base = &attempt->warm[0];
  attempt->stages = ppi_tool_must(
      ppi_alloc((base->num_stages + 1) * sizeof *attempt->stages));
  for (size_t i = 0; i < base->num_stages; i++) {
    const ppi_compare_stage *stage = &base->stages[i];
    if (!ppi_wanted_has(&attempt->wanted, stage) || stage->num_values == 0)
      continue;
    if (is_everywhere(attempt, stage))
      attempt->stages[attempt->num_stages++] = stage;
    else
      ppi_tool_put(&attempt->notes, "Not in each command: %s\n", stage->name);
  }
  if (attempt->num_stages == 0)
    return ppi_tool_fail(
        PPI_EXIT_INCOMPARABLE,
        "no stage is in each command; --stage names those to look at");
  qsort(attempt->stages, attempt->num_stages, sizeof *attempt->stages,
        ppi_stages_compare);
  return PPI_EXIT_DONE;
}

static void note_governor(ppi_page *notes) {
  char text[32] = "";
  FILE *file =
      fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
  if (!file) return;
  if (fgets(text, sizeof text, file)) text[strcspn(text, "\n")] = '\0';
  fclose(file);
  if (!text[0] || strcmp(text, "performance") == 0) return;
  ppi_tool_put(notes,
               "The CPU's governor is '%s': clocks vary; set 'performance' for "
               "fewer runs\n",
               text);
}

// Notes conditions that cost more runs. Without --force it refuses commands
// with different provenance.
static int check_environment(struct attempt *attempt) {
  double load = 0, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
  ppi_page differences = {0};
  bool differ = false;
  if (getloadavg(&load, 1) == 1 && load > 0.5 * cpus)
    ppi_page_format(&attempt->notes,
                    "The machine is busy (load %.1f, %.0f CPUs): a quiet one "
                    "needs fewer runs\n",
                    load, cpus);
  note_governor(&attempt->notes);
  for (size_t i = 1; i < attempt->num_commands; i++) {
    char name[32];
    snprintf(name, sizeof name, "new %zu", i);
    differ |=
        ppi_provenance_differs(&attempt->warm[0], "base", &attempt->warm[i],
                               name, &differences, &attempt->notes);
  }
  if (differ) {
    ppi_page_bytes(&attempt->notes, differences.bytes, differences.len);
    ppi_tool_say("%.*s", (int)strcspn(differences.bytes, "\n"),
                 differences.bytes);
  }
  ppi_page_clear(&differences);
  if (!differ || attempt->options->force) return PPI_EXIT_DONE;
  return ppi_tool_fail(
      PPI_EXIT_INCOMPARABLE,
      "these are not comparable; --force compares them anyway");
}

static int warm_up(struct attempt *attempt) {
  int code = PPI_EXIT_DONE;
  for (size_t i = 0; i < attempt->num_commands && code == PPI_EXIT_DONE; i++)
    code = run_one(attempt, i, 0, &attempt->warm[i]);
  if (code == PPI_EXIT_DONE) code = check_environment(attempt);
  if (code == PPI_EXIT_DONE) code = find_stages(attempt);
  if (code != PPI_EXIT_DONE) return code;
  size_t num = attempt->num_commands * attempt->num_stages;
  attempt->figures = ppi_tool_must(ppi_alloc(num * sizeof *attempt->figures));
  attempt->means = ppi_tool_must(ppi_alloc(num * sizeof *attempt->means));
  attempt->counts = ppi_tool_must(ppi_alloc(num * sizeof *attempt->counts));
  ppi_turns_open(&attempt->turns, attempt->num_commands - 1,
                 attempt->num_stages, attempt->max_runs,
                 attempt->wanted.margin);
  return PPI_EXIT_DONE;
}

// ---- the rounds ----

static int run_counted(struct attempt *attempt, size_t command) {
  ppi_samples samples;
  ppi_samples_init(&samples, attempt->wanted.num_warm);
  int code = run_one(attempt, command, attempt->turns.num_rounds + 1, &samples);
  size_t first = command * attempt->num_stages;
  for (size_t i = 0; i < attempt->num_stages && code == PPI_EXIT_DONE; i++) {
    const ppi_compare_stage *stage =
        ppi_samples_find(&samples, attempt->stages[i]);
    const ppi_runs runs =
        stage ? ppi_compare_stage_runs(stage) : (ppi_runs){.num_runs = 0};
    double value = ppi_estimate_of(&runs, attempt->wanted.metric).value;
    attempt->figures[first + i] = value > 0 ? log(value) : NAN;
  }
  ppi_samples_clear(&samples);
  return code;
}

static void add_figure(struct attempt *attempt, size_t command, size_t stage) {
  size_t at = command * attempt->num_stages + stage;
  double base = attempt->figures[stage], own = attempt->figures[at];
  if (isnan(base) || isnan(own)) return;
  attempt->means[at] +=
      (own - attempt->means[at]) / (double)++attempt->counts[at];
  if (command) ppi_turns_add(&attempt->turns, command - 1, stage, own - base);
}

static int run_round(struct attempt *attempt) {
  const ppi_turns *turns = &attempt->turns;
  size_t num = attempt->num_commands;
  for (size_t i = 0; i < num; i++) {
    size_t command = ppi_turns_command(turns, i);
    if (command && turns->is_out[command - 1]) continue;
    int code = run_counted(attempt, command);
    if (code != PPI_EXIT_DONE) return code;
  }
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < attempt->num_stages; k++)
      if (i == 0 || !turns->is_out[i - 1]) add_figure(attempt, i, k);
  return PPI_EXIT_DONE;
}

static int conclude(const struct attempt *attempt) {
  const ppi_turns *turns = &attempt->turns;
  for (size_t i = 0; i < turns->num_programs; i++)
    for (size_t k = 0; k < turns->num_stages; k++)
      if (!turns->is_out[i] &&
          attempt->wanted
              .fails[ppi_turns_figure(turns, i, k)->decision.verdict])
        return PPI_EXIT_CHECK;
  return PPI_EXIT_DONE;
}

static int try_all(struct attempt *attempt) {
  int code = ppi_trial_begin(&attempt->trial, attempt->options);
  if (code != PPI_EXIT_DONE) return code;
  code = warm_up(attempt);
  while (code == PPI_EXIT_DONE) {
    code = run_round(attempt);
    if (code == PPI_EXIT_DONE && !ppi_turns_end_round(&attempt->turns)) break;
  }
  ppi_trial_end(&attempt->trial);
  // A try that a signal ends has the answers of its last look.
  if (code != PPI_EXIT_DONE && (code <= 128 || attempt->turns.next_look == 0))
    return code;
  const ppi_turns_result result = {.options = attempt->options,
                                   .turns = &attempt->turns,
                                   .stages = attempt->stages,
                                   .logs = attempt->means,
                                   .commands = attempt->commands,
                                   .metric = attempt->wanted.metric,
                                   .notes = &attempt->notes};
  return ppi_turns_print(&result,
                         code == PPI_EXIT_DONE ? conclude(attempt) : code);
}

static int check(struct attempt *attempt) {
  const struct ppi_tool_options *options = attempt->options;
  const struct ppi_try_options *given = &options->tries;
  if (!given->base || given->programs.num == 0 || options->num_inputs)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'try' needs two commands, such as --base './serve' --new './serve "
        "--fast'");
  attempt->commands[0] = given->base;
  for (int i = 0; i < given->programs.num; i++)
    attempt->commands[i + 1] = given->programs.items[i];
  attempt->num_commands = (size_t)given->programs.num + 1;
  int code = ppi_wanted_parse(options, &attempt->wanted);
  if (code != PPI_EXIT_DONE) return code;
  if (!ppi_wanted_percent(given->until, strlen(given->until),
                          &attempt->wanted.margin))
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'--until %s' is no percentage, such as 5%%",
                         given->until);
  if (!ppi_wanted_number("max-runs", given->max_runs, PPI_TURNS_LEAST,
                         &attempt->max_runs))
    return PPI_EXIT_USAGE;
  return ppi_tool_output_check(options, options->output);
}

int ppi_tool_try(const struct ppi_tool_options *options) {
  static struct attempt attempt;  // until the process ends
  attempt.options = options;
  int code = check(&attempt);
  if (code != PPI_EXIT_DONE) return code;
  attempt.warm =
      ppi_tool_must(ppi_alloc(attempt.num_commands * sizeof *attempt.warm));
  for (size_t i = 0; i < attempt.num_commands; i++)
    ppi_samples_init(&attempt.warm[i], attempt.wanted.num_warm);
  return try_all(&attempt);
}
