// SPDX-License-Identifier: Apache-2.0
//
// Runs `history`: finds where stages of a program became slower or faster for
// good, over its commits or days.
#include <math.h>
#include <stdlib.h>

#include "cli/output.h"
#include "compare/compare_history.h"
#include "compare/compare_ratio.h"
#include "compare/compare_wanted.h"
#include "verb/past.h"
#include "verb/verbs.h"

struct history {
  const struct ppi_tool_options *options;
  ppi_wanted wanted;
  ppi_past past;
  const char **points;
  ppi_history_stage *stages;
  size_t num_stages, capacity;
};

static void add_runs(const struct history *history, ppi_history_stage *own) {
  for (size_t i = 0; i < history->past.num; i++) {
    const ppi_compare_stage *stage =
        ppi_samples_find(&history->past.points[i].samples, own->stage);
    size_t begin = 0;
    for (size_t k = 0; stage && k < stage->num_runs; begin = stage->ends[k++]) {
      const size_t end = stage->ends[k] - begin;
      const ppi_runs run = {stage->values + begin, &end, 1};
      double value = ppi_estimate_of(&run, history->wanted.metric).value;
      if (!(value > 0)) continue;
      PPI_MUST_PUSH(own->runs, own->num_runs, own->capacity,
                    (ppi_past_run){log(value), i});
    }
  }
}

static bool is_known(const struct history *history, size_t point,
                     const ppi_compare_stage *stage) {
  for (size_t i = 0; i < point; i++)
    if (ppi_samples_find(&history->past.points[i].samples, stage)) return true;
  return false;
}

static void add_stage(struct history *history, const ppi_compare_stage *stage) {
  PPI_MUST_ROOM(history->stages, history->capacity, history->num_stages + 1);
  ppi_history_stage *own = &history->stages[history->num_stages++];
  *own = (ppi_history_stage){.stage = stage};
  add_runs(history, own);
}

static void find_stages(struct history *history) {
  for (size_t i = 0; i < history->past.num; i++) {
    const ppi_samples *samples = &history->past.points[i].samples;
    for (size_t k = 0; k < samples->num_stages; k++)
      if (ppi_wanted_has(&history->wanted, &samples->stages[k]) &&
          !is_known(history, i, &samples->stages[k]))
        add_stage(history, &samples->stages[k]);
  }
  if (history->num_stages)
    qsort(history->stages, history->num_stages, sizeof *history->stages,
          ppi_stages_compare);
}

static void find_changes(const struct history *history,
                         ppi_history_stage *own) {
  own->num_changes = ppi_changes_find(own->runs, own->num_runs,
                                      history->num_stages, own->changes);
  // A stage that the last point lacks has nothing new.
  bool is_last = own->num_runs &&
                 own->runs[own->num_runs - 1].point + 1 == history->past.num;
  if (is_last)
    ppi_changes_mark(own->runs, own->num_runs, history->num_stages,
                     own->changes, own->num_changes, own->is_new);
}

static int conclude(const struct history *history) {
  if (strcmp(history->options->compare.fail_on, "new") != 0)
    return PPI_EXIT_DONE;
  for (size_t i = 0; i < history->num_stages; i++) {
    const ppi_history_stage *own = &history->stages[i];
    for (size_t k = 0; k < own->num_changes; k++)
      if (own->is_new[k] && own->changes[k].after > own->changes[k].before)
        return PPI_EXIT_CHECK;
  }
  return PPI_EXIT_DONE;
}

static int show(struct history *history, int code) {
  const ppi_history result = {.options = history->options,
                              .points = history->points,
                              .num_points = history->past.num,
                              .stages = history->stages,
                              .num_stages = history->num_stages,
                              .metric = history->wanted.metric};
  struct ppi_tool_options to = *history->options;
  ppi_page page = {0};
  code = PPI_MAX(code, conclude(history));
  code = ppi_history_print(&result, code);
  if (!to.html) return code;
  to.output = to.html;
  ppi_history_plot(&result, &page);
  return ppi_tool_output_page(&to, &page, code);
}

static int look(struct history *history) {
  int code = ppi_past_read(&history->past, history->options->inputs[0],
                           history->wanted.num_warm, false);
  if (code == PPI_EXIT_INPUT) return code;
  history->points =
      ppi_tool_must(ppi_alloc(history->past.num * sizeof *history->points));
  find_stages(history);
  for (size_t i = 0; i < history->past.num; i++)
    history->points[i] = history->past.points[i].name;
  for (size_t i = 0; i < history->num_stages; i++)
    find_changes(history, &history->stages[i]);
  return show(history, code);
}

static int check(struct history *history) {
  const struct ppi_tool_options *options = history->options;
  struct ppi_tool_options plain = *options;
  if (options->num_inputs != 1)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'history' needs one folder of logs");
  // --fail-on of `history` is no list of verdicts.
  plain.compare.fail_on = "none";
  int code = ppi_wanted_parse(&plain, &history->wanted);
  history->wanted.stages = options->stage;
  return code == PPI_EXIT_DONE ? ppi_tool_output_checks(options, options->html)
                               : code;
}

int ppi_tool_history(const struct ppi_tool_options *options) {
  static struct history history;  // until the process ends
  history.options = options;
  int code = check(&history);
  return code == PPI_EXIT_DONE ? look(&history) : code;
}
