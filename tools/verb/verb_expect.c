// SPDX-License-Identifier: Apache-2.0
//
// Runs `expect`, which writes rules that some runs keep, and `check --expect`,
// which checks whether other runs keep them.
#include "cli/output.h"
#include "expect/expect_holds.h"
#include "expect/expect_learn.h"
#include "input/input.h"
#include "verb/verbs.h"

static int read_run(const char *path, ppi_expect_run *run) {
  struct ppi_tool_watch watch;
  return ppi_tool_read(path, &run->base, &watch);
}

// ---- check --expect ----

struct checked {
  const ppi_expect_rules *rules;
  const char *file, *log;
  ppi_page *out;
  size_t num_broken, most_cut;
};

static void check_run(void *user, const ppi_expect_run *run) {
  struct checked *checked = user;
  for (size_t i = 0; i < checked->rules->num; i++) {
    const ppi_expect_rule *rule = &checked->rules->items[i];
    ppi_page words = {0};
    size_t num_cut;
    bool holds = ppi_expect_rule_holds(rule, run, &words, &num_cut);
    checked->most_cut = PPI_MAX(checked->most_cut, num_cut);
    if (!holds) {
      checked->num_broken++;
      ppi_tool_put(checked->out, "%s: %s:%u: %s: ", checked->log, checked->file,
                   rule->line, rule->text);
      ppi_page_bytes(checked->out, words.bytes, words.len);
      ppi_page_text(checked->out, "\n");
    }
    ppi_page_clear(&words);
  }
}

static int check_log(const char *path, struct checked *checked) {
  ppi_expect_run run;
  size_t before = checked->num_broken;
  checked->log = ppi_tool_name_of(path);
  checked->most_cut = 0;
  ppi_expect_run_init(&run, check_run, checked);
  int code = read_run(path, &run);
  ppi_expect_run_clear(&run);
  if (code == PPI_EXIT_INPUT) return code;
  if (checked->most_cut)
    ppi_tool_put(checked->out,
                 "%s: %zu request%s cut at the recording's edges, not judged\n",
                 checked->log, checked->most_cut,
                 checked->most_cut == 1 ? "" : "s");
  if (checked->num_broken == before)
    ppi_tool_put(checked->out, "%s: %zu rules hold\n", checked->log,
                 checked->rules->num);
  else if (code == PPI_EXIT_DONE)
    code = PPI_EXIT_CHECK;
  return code;
}

int ppi_tool_check_expected(const struct ppi_tool_options *options) {
  ppi_expect_rules rules;
  ppi_page page = {0};
  pprof_error error = {""};
  int code = PPI_EXIT_DONE;
  pprof_status status = ppi_expect_rules_read(options->expect, &rules, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_expect_rules_clear(&rules);
    return ppi_tool_failed(PPI_EXIT_USAGE, status, &error);
  }
  struct checked checked = {
      .rules = &rules, .file = options->expect, .out = &page};
  for (int i = 0; i < options->num_inputs; i++)
    code = ppi_tool_worse(code, check_log(options->inputs[i], &checked));
  ppi_expect_rules_clear(&rules);
  return page.len ? ppi_tool_output_lines(options, &page, code) : code;
}

// ---- expect --learn ----

static void learn_run(void *user, const ppi_expect_run *run) {
  ppi_expect_lesson_add(user, run);
}

int ppi_tool_expect(const struct ppi_tool_options *options) {
  ppi_page page = {0};
  ppi_expect_run run;
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  if (!options->learn)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'expect' writes rules with --learn; 'check --expect FILE' reads them");
  ppi_expect_lesson *lesson = ppi_expect_lesson_create();
  ppi_expect_run_init(&run, learn_run, lesson);
  for (int i = 0; i < options->num_inputs && code != PPI_EXIT_INPUT; i++)
    code = ppi_tool_worse(code, read_run(options->inputs[i], &run));
  ppi_expect_run_clear(&run);
  if (code != PPI_EXIT_INPUT) {
    ppi_expect_lesson_put(lesson, &page);
    code = ppi_tool_output_page(options, &page, code);
  }
  ppi_expect_lesson_destroy(lesson);
  return code;
}
