// SPDX-License-Identifier: Apache-2.0
//
// Runs `compare`: judges stage by stage whether a change helped, and how
// surely.
#include <malloc.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/suggest.h"
#include "compare/compare_print.h"
#include "compare/compare_programs.h"
#include "compare/compare_provenance.h"
#include "compare/compare_ratio.h"
#include "compare/compare_wanted.h"
#include "input/input.h"
#include "input/sums.h"
#include "report/report.h"
#include "verb/past.h"
#include "verb/verbs.h"

// ---- limits of inputs ----

// ppi_tool_limit_of reads `path` again, without messages; claim none: unknown.
static ppi_limit ppi_tool_limit_of(const struct ppi_tool_options *options,
                                   const char *path) {
  const ppi_report_details details = {.answer = true, .warmup = -1};
  ppi_tool_sums sums;
  ppi_limit limit = {0};
  ppi_tool_sums_of(options, path, &sums);
  pprof_report *report = ppi_tool_sums_read(&sums, &details);
  if (!report) {
    struct ppi_tool_watch watch;
    struct ppi_tool_runs met = {.items = NULL};
    if (pprof_report_create(&report) != PPROF_STATUS_OK) ppi_tool_must(NULL);
    ppi_report_set_details(report, &details);
    if (ppi_tool_read_again(path, pprof_report_sink(report), &watch, &met) ==
            PPI_EXIT_DONE &&
        !watch.num_repeated)
      ppi_tool_sums_write(&sums, &details, report);
    ppi_tool_runs_clear(&met);
  }
  const ppi_figures *figures = ppi_report_figures(report);
  if (figures) limit = figures->limit;
  pprof_report_destroy(report);
  ppi_tool_sums_clear(&sums);
  return limit;
}

static const char *name_of(const ppi_limit *limit) {
  if (limit->claim == PPI_CLAIM_KEEPS_UP) return "arrivals";
  return limit->num_names ? limit->names[0] : "what is not recorded";
}

static void put_limit(ppi_page *notes, const ppi_limit *limit) {
  double busy = limit->utilization < 1 ? limit->utilization : 1;
  ppi_page_visible(notes, name_of(limit));
  if (busy > 0 && limit->claim != PPI_CLAIM_KEEPS_UP)
    ppi_page_format(notes, " (busy %.0f %%)", 100 * busy);
}

// Puts a line if the limit moved to another stage, or to arrivals.
static void ppi_tool_note_limits(const ppi_limit *before,
                                 const ppi_limit *after, ppi_page *notes) {
  if (before->claim == PPI_CLAIM_NONE || after->claim == PPI_CLAIM_NONE ||
      strcmp(name_of(before), name_of(after)) == 0)
    return;
  ppi_page_text(notes, "The limit moved from ");
  put_limit(notes, before);
  ppi_page_text(notes, " to ");
  put_limit(notes, after);
  ppi_page_text(notes, "\n");
}

// ---- the rest ----

struct compare {
  const struct ppi_tool_options *options;
  ppi_wanted wanted;
  ppi_samples *inputs;
  size_t num_inputs;
  const ppi_compare_stage **stages;  // each once, from the first input with it
  size_t num_stages, stages_capacity;
  ppi_comparison *comparisons;
  size_t num_comparisons, comparisons_capacity;
  ppi_past past;
  ppi_tool_paths logs;       // in folders
  struct ppi_tool_runs met;  // each run is in one input
  ppi_page notes;
};

// The name of input `i` in notes and messages.
static const char *short_name(const struct compare *compare, size_t i) {
  if (compare->num_inputs == 2) return i == 0 ? "A" : "B";
  return ppi_tool_name_of(compare->options->inputs[i]);
}

static void note_input(struct compare *compare, size_t i, uint64_t num_lost) {
  const ppi_samples *input = &compare->inputs[i];
  const char *name = short_name(compare, i);
  uint64_t num_cut = 0;
  for (size_t k = 0; k < input->num_stages; k++)
    num_cut += input->stages[k].num_cut;
  if (compare->num_inputs == 2)
    ppi_tool_put(&compare->notes, "%s: %s, %zu run%s\n", name,
                 ppi_tool_name_of(compare->options->inputs[i]), input->num_runs,
                 input->num_runs == 1 ? "" : "s");
  if (num_lost)
    ppi_tool_put(&compare->notes, "%s lost %llu records\n", name,
                 (unsigned long long)num_lost);
  if (num_cut)
    ppi_tool_put(&compare->notes,
                 "%s: cut or abandoned ranges, which are no samples: %llu\n",
                 name, (unsigned long long)num_cut);
}

// Reads input `i`. *out_repeated: earlier inputs have all of its runs; --force
// compares them still.
static int read_input(struct compare *compare, size_t i, bool *out_repeated) {
  const char *path = compare->options->inputs[i];
  ppi_samples *input = &compare->inputs[i];
  struct ppi_tool_watch watch;
  ppi_samples_init(input, compare->wanted.num_warm);
  input->wants_energy = ppi_wanted_energy(&compare->wanted);
  struct ppi_tool_runs *met = compare->options->force ? NULL : &compare->met;
  if (ppi_tool_is_folder(path)) {
    size_t before = compare->logs.num;
    int read = ppi_past_read_folder(path, met, &compare->logs, input);
    if (read == PPI_EXIT_DONE && compare->logs.num == before)
      return ppi_tool_fail(PPI_EXIT_INPUT, "%s: no log (*.pplog) is in it",
                           path);
    *out_repeated = input->num_runs == 0 && read == PPI_EXIT_DONE;
    if (input->num_runs) note_input(compare, i, 0);
    return read;
  }
  int code = ppi_tool_read_once(path, path, &input->base, &watch, met);
  *out_repeated = watch.num_repeated > 0 && !watch.begun;
  if (watch.sink_failed) ppi_tool_must(NULL);
  if (*out_repeated) return code;
  note_input(compare, i, watch.num_lost);
  return code;
}

static int read_inputs(struct compare *compare) {
  int code = PPI_EXIT_DONE;
  size_t num = compare->num_inputs, kept = 0;
  for (size_t i = 0; i < num; i++) {
    compare->options->inputs[kept] = compare->options->inputs[i];
    bool repeated = false;
    int answer = read_input(compare, kept, &repeated);
    if (answer == PPI_EXIT_INPUT) return answer;
    if (answer > code) code = answer;
    if (repeated) {
      ppi_samples_clear(&compare->inputs[kept]);
      continue;
    }
    kept++;
  }
  compare->num_inputs = kept;
  if (kept < 2)
    return ppi_tool_fail(
        PPI_EXIT_INCOMPARABLE,
        "nothing can be compared: the inputs are the same runs; "
        "--force compares them anyway");
  size_t num_warm = compare->wanted.num_warm;
  if (ppi_wanted_energy(&compare->wanted))
    ppi_page_text(&compare->notes,
                  "Energy is of all calls on devices, cold ones too, without "
                  "(idle)\n");
  if (ppi_metric_is_energy(compare->wanted.metric)) return code;
  if (num_warm == 1)
    ppi_page_text(&compare->notes,
                  "The first call of each stage and run is no sample\n");
  else if (num_warm > 1)
    ppi_page_format(&compare->notes,
                    "The first %zu calls of each stage and run are no "
                    "samples\n",
                    num_warm);
  return code;
}

// Notes differences of the inputs' machines. `--adjust clock` scales device
// times to the clock of the base.
static void note_machines(struct compare *compare) {
  for (size_t i = 1; i < compare->num_inputs; i++) {
    const ppi_compare_machine *base = &compare->inputs[0].machine;
    ppi_samples *input = &compare->inputs[i];
    const char *name = short_name(compare, i);
    ppi_compare_machine_note(base, &input->machine, name, &compare->notes);
    double by =
        compare->options->compare.adjust ? ppi_samples_adjust(input, base) : 0;
    if (!(by > 0)) continue;
    ppi_tool_put(&compare->notes,
                 "%s: device times are multiplied by %.3f, as at the base's "
                 "clock: right where time is proportional to 1 / clock\n",
                 name, by);
  }
}

static int guard(struct compare *compare) {
  const struct ppi_tool_options *options = compare->options;
  ppi_page differences = {0};
  bool differ = false;
  for (size_t i = 0; i < compare->num_inputs; i++)
    if (!ppi_provenance_known(&compare->inputs[i]))
      ppi_tool_put(&compare->notes,
                   "%s does not say on which machine it was made\n",
                   short_name(compare, i));
  for (size_t i = 1; i < compare->num_inputs; i++)
    differ |= ppi_provenance_differs(
        &compare->inputs[0], short_name(compare, 0), &compare->inputs[i],
        short_name(compare, i), &differences, &compare->notes);
  note_machines(compare);
  for (const char *at = differences.bytes; differ && at && *at;) {
    size_t len = strcspn(at, "\n");
    ppi_tool_say("%s%.*s", options->force ? "warning: " : "", (int)len, at);
    at += len + (at[len] == '\n');
  }
  if (differ && options->force)
    ppi_page_bytes(&compare->notes, differences.bytes, differences.len);
  ppi_page_clear(&differences);
  if (!differ || options->force) return PPI_EXIT_DONE;
  return ppi_tool_fail(
      PPI_EXIT_INCOMPARABLE,
      "these are not comparable; --force compares them anyway");
}

static bool is_new(const struct compare *compare, size_t input,
                   const ppi_compare_stage *stage) {
  for (size_t i = 0; i < input; i++)
    if (ppi_samples_find(&compare->inputs[i], stage)) return false;
  return true;
}

static void find_stages(struct compare *compare) {
  for (size_t i = 0; i < compare->num_inputs; i++) {
    for (size_t k = 0; k < compare->inputs[i].num_stages; k++) {
      const ppi_compare_stage *stage = &compare->inputs[i].stages[k];
      if (!ppi_wanted_has(&compare->wanted, stage) ||
          !is_new(compare, i, stage))
        continue;
      PPI_MUST_PUSH(compare->stages, compare->num_stages,
                    compare->stages_capacity, stage);
    }
  }
  if (compare->num_stages)
    qsort(compare->stages, compare->num_stages, sizeof *compare->stages,
          ppi_stages_compare);
}

// Adds the spread of a figure between runs of one program, from the whole past.
static void add_history(const struct compare *compare,
                        ppi_comparison *comparison) {
  const ppi_compare_stage *like = comparison->stages[0], *stage;
  for (size_t i = 0; like && i < compare->past.num; i++)
    if ((stage = ppi_samples_find(&compare->past.points[i].samples, like)))
      ppi_run_spread_add(&comparison->history, stage, comparison->metric);
}

// An input's place among the others.
struct candidate {
  size_t input;
  const ppi_compare_stage *stage;
  double value;  // negative: no value
};

static int by_value(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  if ((x->value < 0) != (y->value < 0)) return x->value < 0 ? 1 : -1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return x->input < y->input ? -1 : x->input > y->input;
}

static void rank(const struct compare *compare, const ppi_compare_stage *like,
                 ppi_metric metric, struct candidate *out) {
  for (size_t i = 0; i < compare->num_inputs; i++) {
    out[i] =
        (struct candidate){i, ppi_samples_find(&compare->inputs[i], like), -1};
    if (!out[i].stage || compare->num_inputs == 2) continue;
    const ppi_runs runs = ppi_compare_stage_runs(out[i].stage);
    const ppi_estimate estimate = ppi_estimate_of(&runs, metric);
    if (estimate.n) out[i].value = estimate.value;
  }
  if (compare->num_inputs > 2)
    qsort(out, compare->num_inputs, sizeof *out, by_value);
}

// The base is the first of two inputs, and the best of more inputs.
static void add_figure(struct compare *compare, const ppi_compare_stage *like,
                       ppi_metric metric, double margin) {
  struct candidate *order =
      ppi_tool_must(ppi_alloc(compare->num_inputs * sizeof *order));
  rank(compare, like, metric, order);
  for (size_t i = 1; i < compare->num_inputs; i++) {
    PPI_MUST_ROOM(compare->comparisons, compare->comparisons_capacity,
                  compare->num_comparisons + 1);
    ppi_comparison *comparison =
        &compare->comparisons[compare->num_comparisons++];
    *comparison = (ppi_comparison){.inputs = {order[0].input, order[i].input},
                                   .stages = {order[0].stage, order[i].stage},
                                   .metric = metric,
                                   .margin = margin};
    add_history(compare, comparison);
  }
  ppi_free(order);
}

static int refuse_threshold(const struct compare *compare,
                            const ppi_threshold *threshold) {
  struct ppi_tool_candidate candidate = {
      .wrong = threshold->pattern, .wrong_len = strlen(threshold->pattern)};
  for (size_t i = 0; i < compare->num_stages; i++)
    ppi_tool_candidate_offer(&candidate, compare->stages[i]->name,
                             strlen(compare->stages[i]->name));
  return ppi_tool_refuse(&candidate, "", "",
                         "--threshold: there is no stage '%s'",
                         threshold->pattern);
}

static int build_page(struct compare *compare) {
  find_stages(compare);
  for (size_t i = 0; i < compare->num_stages; i++) {
    for (unsigned m = 0; m < PPI_NUM_METRICS; m++) {
      ppi_metric metric = (ppi_metric)m;
      double margin =
          ppi_wanted_margin(&compare->wanted, compare->stages[i], metric);
      if (margin >= 0) add_figure(compare, compare->stages[i], metric, margin);
    }
  }
  if (compare->num_comparisons == 0 && ppi_wanted_energy(&compare->wanted))
    return ppi_tool_fail(PPI_EXIT_INCOMPARABLE,
                         "no energy is known: record with `machine: on`");
  for (size_t i = 0; i < compare->wanted.num_thresholds; i++)
    if (!compare->wanted.thresholds[i].is_used && compare->num_stages)
      return refuse_threshold(compare, &compare->wanted.thresholds[i]);
  return PPI_EXIT_DONE;
}

static int refuse_all(size_t num_common) {
  return ppi_tool_fail(PPI_EXIT_INCOMPARABLE,
                       num_common
                           ? "nothing can be compared: too few calls of every "
                             "stage; record more of them"
                           : "nothing can be compared: no stage is in more "
                             "than one input");
}

// Decides the exit status from the verdicts.
static int conclude(const struct compare *compare) {
  size_t num_common = 0, num_runs = 0, num_programs = 0;
  bool runs_fail = false, programs_fail = false;
  for (size_t i = 0; i < compare->num_comparisons; i++) {
    const ppi_comparison *comparison = &compare->comparisons[i];
    num_common += comparison->stages[0] && comparison->stages[1];
    num_runs += comparison->runs.is_tested;
    num_programs += comparison->programs.is_tested;
    runs_fail |= compare->wanted.fails[comparison->runs.verdict];
    programs_fail |= compare->wanted.fails[comparison->programs.verdict];
  }
  if (num_runs + num_programs == 0) return refuse_all(num_common);
  if (compare->num_inputs > 2) return PPI_EXIT_DONE;
  if (compare->options->compare.runs_differ)
    return runs_fail ? PPI_EXIT_CHECK : PPI_EXIT_DONE;
  if (runs_fail && !programs_fail && num_programs == 0)
    ppi_tool_say(
        "one run each cannot fail for the programs: give three runs a side, "
        "--history FOLDER, or --runs-differ");
  return programs_fail ? PPI_EXIT_CHECK : PPI_EXIT_DONE;
}

// Notes the limit of each input if it is not the limit of the first.
static void note_limits(struct compare *compare) {
  const char *const *paths = compare->options->inputs;
  const ppi_limit first = ppi_tool_limit_of(compare->options, paths[0]);
  for (size_t i = 1; i < compare->num_inputs; i++) {
    const ppi_limit other = ppi_tool_limit_of(compare->options, paths[i]);
    ppi_page line = {0};
    ppi_tool_note_limits(&first, &other, &line);
    if (line.len && compare->num_inputs > 2)
      ppi_tool_put(&compare->notes, "%s: ", short_name(compare, i));
    ppi_page_bytes(&compare->notes, line.bytes, line.len);
    ppi_page_clear(&line);
  }
}

static void doubt(ppi_decision *decision, const char *why) {
  if (!decision->is_tested || (decision->verdict != PPI_VERDICT_FASTER &&
                               decision->verdict != PPI_VERDICT_SLOWER))
    return;
  decision->verdict = PPI_VERDICT_AMBIGUOUS;
  snprintf(decision->reason, sizeof decision->reason, "%s", why);
}

// A change on devices may come from their clocks, so its verdict becomes
// ambiguous.
static void doubt_clocks(struct compare *compare) {
  for (size_t i = 0; i < compare->num_comparisons; i++) {
    ppi_comparison *comparison = &compare->comparisons[i];
    const ppi_samples *a = &compare->inputs[comparison->inputs[0]];
    const ppi_samples *b = &compare->inputs[comparison->inputs[1]];
    char clocks[48], why[80];
    bool is_energy = ppi_metric_is_energy(comparison->metric);
    if ((compare->options->compare.adjust && !is_energy) ||
        !comparison->stages[0] || !comparison->stages[0]->on_device ||
        !ppi_compare_clock_differs(&a->machine, &b->machine, clocks,
                                   sizeof clocks))
      continue;
    snprintf(why, sizeof why, "%s%s", clocks,
             is_energy ? "" : "; see --adjust clock");
    doubt(&comparison->runs, why);
    doubt(&comparison->programs, why);
  }
}

static int compare_all(struct compare *compare) {
  int code = read_inputs(compare), answer = PPI_EXIT_DONE;
  if (code == PPI_EXIT_INPUT || compare->num_inputs < 2) return code;
  answer = guard(compare);
  compare->past.wants_energy = ppi_wanted_energy(&compare->wanted);
  if (answer == PPI_EXIT_DONE && compare->options->compare.history)
    answer = ppi_past_read(&compare->past, compare->options->compare.history,
                           compare->wanted.num_warm, true);
  if (answer == PPI_EXIT_DAMAGED) code = answer;
  if (answer == PPI_EXIT_DONE || answer == PPI_EXIT_DAMAGED)
    answer = build_page(compare);
  if (answer != PPI_EXIT_DONE) return answer;
  ppi_judge(compare->comparisons, compare->num_comparisons);
  note_limits(compare);
  doubt_clocks(compare);
  answer = conclude(compare);
  if (answer > code) code = answer;
  const ppi_compare_result result = {
      .inputs = compare->inputs,
      .names = compare->options->inputs,
      .num_inputs = compare->num_inputs,
      .comparisons = compare->comparisons,
      .num_comparisons = compare->num_comparisons,
      .notes = &compare->notes};
  return ppi_compare_print(compare->options, &result, code);
}

static int check(struct compare *compare) {
  const struct ppi_tool_options *options = compare->options;
  if (options->num_inputs < 2)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'compare' needs two inputs or more, the base first");
  if (options->num_inputs > 2 && options->compare.fail_on)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "--fail-on needs two inputs: more are ranked");
  int code = ppi_wanted_parse(options, &compare->wanted);
  return code == PPI_EXIT_DONE ? ppi_tool_output_checks(options, options->html)
                               : code;
}

// Once larger arrays were freed, glibc moves arrays into its heap. There,
// growing arrays leave holes: a third of all memory. musl never does this.
static void keep_arrays_apart(void) {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

int ppi_tool_compare(const struct ppi_tool_options *options) {
  // The process ends with the verb: what it has read stays where it is.
  static struct compare compare;
  keep_arrays_apart();
  compare.options = options;
  int code = check(&compare);
  if (code != PPI_EXIT_DONE) return code;
  compare.num_inputs = (size_t)options->num_inputs;
  compare.inputs =
      ppi_tool_must(ppi_alloc(compare.num_inputs * sizeof *compare.inputs));
  return compare_all(&compare);
}
