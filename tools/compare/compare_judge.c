// SPDX-License-Identifier: Apache-2.0
//
// Decides the verdict of each comparison of runs. Slower: the change is surely
// above the margin, even after the correction for the number of comparisons.
// Same: both bounds, each wrong once in twenty, lie within the margin.
// Everything else is ambiguous.
#include "compare/compare_judge.h"

#include <math.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "compare/compare_programs.h"
#include "compare/compare_ratio.h"

static const char *const verdict_names[PPI_NUM_VERDICTS] = {
    [PPI_VERDICT_FASTER] = "faster",
    [PPI_VERDICT_SLOWER] = "slower",
    [PPI_VERDICT_SAME] = "same",
    [PPI_VERDICT_AMBIGUOUS] = "ambiguous"};

const char *ppi_verdict_name(ppi_verdict verdict) {
  return verdict_names[verdict];
}

static void refuse_few(ppi_comparison *comparison, char side, double have,
                       const char *what) {
  if (comparison->runs.reason[0]) return;
  snprintf(comparison->runs.reason, sizeof comparison->runs.reason,
           "%c has %.0f %s, %s needs %zu", side, floor(have), what,
           ppi_metric_name(comparison->metric),
           ppi_metric_need(comparison->metric));
}

// Whether the estimates allow a test; if not, sets the reason.
static bool has_enough(ppi_comparison *comparison) {
  size_t need = ppi_metric_need(comparison->metric);
  for (int i = 0; i < 2; i++) {
    const ppi_estimate *estimate = &comparison->estimates[i];
    char side = "AB"[i];
    if (!comparison->stages[i])
      snprintf(comparison->runs.reason, sizeof comparison->runs.reason,
               "only in %c", "BA"[i]);
    else if (comparison->stages[i]->is_unresolved)
      snprintf(comparison->runs.reason, sizeof comparison->runs.reason,
               "n/r: busy for less than 20 samples of power");
    else if (estimate->n < need)
      refuse_few(comparison, side, (double)estimate->n, "samples");
    else if (estimate->value <= 0 && !comparison->runs.reason[0])
      snprintf(comparison->runs.reason, sizeof comparison->runs.reason,
               "takes no time in %c", side);
    else if (ppi_metric_share(comparison->metric) > 0.5 &&
             estimate->independent < (double)need)
      refuse_few(comparison, side, estimate->independent,
                 "independent samples");
  }
  return comparison->runs.reason[0] == 0;
}

// Sets `is_read`, and the estimates of rows without a test. A test makes its
// own estimates.
static void estimate(ppi_comparison *comparison) {
  size_t need = ppi_metric_need(comparison->metric);
  ppi_runs runs[2];
  bool is_read = true;
  for (unsigned i = 0; i < 2; i++) {
    const ppi_compare_stage *stage = comparison->stages[i];
    if (stage) runs[i] = ppi_compare_stage_runs(stage);
    is_read &= stage && !stage->is_unresolved &&
               ppi_runs_count(&runs[i]) >= need &&
               ppi_runs_take_time(&runs[i], comparison->metric);
  }
  comparison->is_read = is_read;
  for (unsigned i = 0; i < 2 && !is_read; i++) {
    ppi_estimate *out = &comparison->estimates[i];
    if (!comparison->stages[i]) continue;
    *out = ppi_estimate_of(&runs[i], comparison->metric);
    out->independent = (double)out->n;
  }
  if (!is_read) has_enough(comparison);
}

// The most that an error of `distance` moves the ratio, up or down.
static double span_of(const ppi_ratio *ratio, double distance) {
  double seen = ppi_ratio_at(ratio, 0);
  return PPI_MAX(ppi_ratio_at(ratio, distance) / seen,
                 seen / ppi_ratio_at(ratio, -distance));
}

static bool is_same(const ppi_comparison *comparison, const ppi_ratio *ratio) {
  double reach = ppi_ratio_reach(ratio, PPI_COMPARE_ALPHA);
  return ppi_ratio_at(ratio, -reach) * (1 + comparison->margin) >= 1 &&
         ppi_ratio_at(ratio, reach) <= 1 + comparison->margin;
}

// Fills in the answer as one of `num_tests`, and the verdict except for p.
static void fill_answer(const ppi_comparison *comparison,
                        const ppi_ratio *ratio, size_t num_tests,
                        ppi_decision *out) {
  double alpha = PPI_COMPARE_ALARM / 2 / (double)num_tests;
  double reach = ppi_ratio_reach(ratio, alpha) + ppi_ratio_reach(ratio, 0.1);
  out->detectable = (1 + comparison->margin) * span_of(ratio, reach) - 1;
  out->stays_for = ppi_ratio_stays_for(ratio);
  reach = ppi_ratio_reach(ratio, PPI_COMPARE_ALPHA / 2);
  out->ratio = ppi_ratio_at(ratio, 0);
  out->low = ppi_ratio_at(ratio, -reach);
  out->high = ppi_ratio_at(ratio, reach);
  // The correction multiplies p by num_tests at most.
  if (out->p * (double)num_tests >= PPI_COMPARE_ALARM &&
      is_same(comparison, ratio))
    out->verdict = PPI_VERDICT_SAME;
}

// Runs of a few calls do not show their own noise, so they are joined into one.
static ppi_runs runs_of(const ppi_compare_stage *stage, ppi_metric metric) {
  if (stage->num_values >= stage->num_runs * ppi_metric_need(metric))
    return ppi_compare_stage_runs(stage);
  return (ppi_runs){stage->values, &stage->num_values, 1};
}

// Computes the interval, and the p of the data for a change within the margin.
static void test(ppi_comparison *comparison, size_t num_tests) {
  const ppi_runs a = runs_of(comparison->stages[0], comparison->metric);
  const ppi_runs b = runs_of(comparison->stages[1], comparison->metric);
  ppi_decision *out = &comparison->runs;
  ppi_ratio ratio = {.num_mixtures = 0};
  ppi_ratio_open(&ratio, &a, &b, comparison->metric);
  double p_rank = ppi_ratio_p(&ratio, 0);
  out->p = ppi_ratio_p(&ratio, comparison->margin);
  for (int i = 0; i < 2; i++) {
    const ppi_ratio_side *side = &ratio.sides[i];
    comparison->estimates[i] =
        (ppi_estimate){side->n, side->independent, side->value};
  }
  out->is_tested = has_enough(comparison);
  if (out->is_tested) {
    out->p_rank = p_rank;
    fill_answer(comparison, &ratio, num_tests, out);
  } else {
    out->p = 1;
  }
  ppi_ratio_close(&ratio);
}

// A run's energy is known; the error is in its division, by overlap and
// sampling.
static void test_energy(ppi_comparison *comparison, size_t num_tests) {
  ppi_decision *out = &comparison->runs;
  double squares = 1e-18, margin = log1p(comparison->margin);
  for (int i = 0; i < 2; i++) {
    const ppi_compare_stage *stage = comparison->stages[i];
    const ppi_runs runs = ppi_compare_stage_runs(stage);
    double error = stage->error / (double)stage->num_runs;
    comparison->estimates[i] = ppi_estimate_of(&runs, comparison->metric);
    squares += error * error;
  }
  out->is_tested = has_enough(comparison);
  out->p = 1;
  if (!out->is_tested) return;
  double error = sqrt(squares), alpha = PPI_COMPARE_ALARM / (double)num_tests;
  double change =
      log(comparison->estimates[1].value / comparison->estimates[0].value);
  double reach = error * ppi_student_quantile(PPI_COMPARE_ALPHA / 2, 1e6);
  double sees = error * (ppi_student_quantile(alpha / 2, 1e6) +
                         ppi_student_quantile(0.1, 1e6));
  out->ratio = exp(change);
  out->low = exp(change - reach);
  out->high = exp(change + reach);
  out->p_rank = 2 * ppi_student_tail(fabs(change) / error, 1e6);
  if (fabs(change) > margin)
    out->p = 2 * ppi_student_tail((fabs(change) - margin) / error, 1e6);
  out->detectable = (1 + comparison->margin) * exp(sees) - 1;
  if (out->p * (double)num_tests >= PPI_COMPARE_ALARM &&
      fabs(change) + reach <= margin)
    out->verdict = PPI_VERDICT_SAME;
}

static void decide(ppi_decision *runs) {
  if (runs->p < PPI_COMPARE_ALARM)
    runs->verdict = runs->ratio > 1 ? PPI_VERDICT_SLOWER : PPI_VERDICT_FASTER;
  else if (runs->verdict == PPI_VERDICT_SAME)
    return;
  else if (runs->stays_for > 0)
    snprintf(runs->reason, sizeof runs->reason,
             "levels stay for some %.2g calls: use longer runs, or `try`",
             runs->stays_for);
  else if (runs->detectable > PPI_COMPARE_HUGE)
    snprintf(runs->reason, sizeof runs->reason, "too noisy to show any change");
  else
    snprintf(runs->reason, sizeof runs->reason,
             "changes below %.3g %% need longer runs", 100 * runs->detectable);
}

static void correct(ppi_comparison *comparisons, size_t num, double *p,
                    size_t *scratch) {
  size_t num_runs = 0, num_programs = 0;
  for (size_t i = 0; i < num; i++)
    if (comparisons[i].is_read) p[num_runs++] = comparisons[i].runs.p;
  ppi_holm(p, num_runs, scratch);
  for (size_t i = 0, at = 0; i < num; i++) {
    if (!comparisons[i].is_read) continue;
    comparisons[i].runs.p = p[at++];
    if (comparisons[i].runs.is_tested) decide(&comparisons[i].runs);
  }
  for (size_t i = 0; i < num; i++)
    if (comparisons[i].programs.is_tested)
      p[num_programs++] = comparisons[i].programs.p;
  ppi_holm(p, num_programs, scratch);
  for (size_t i = 0, at = 0; i < num; i++) {
    if (comparisons[i].programs.is_tested) comparisons[i].programs.p = p[at++];
    ppi_programs_decide(&comparisons[i]);
  }
}

void ppi_judge(ppi_comparison *comparisons, size_t num) {
  double *p = ppi_tool_must(ppi_alloc((num + 1) * sizeof *p));
  size_t *scratch = ppi_tool_must(ppi_alloc((num + 1) * sizeof *scratch));
  size_t num_runs = 0, num_programs = 0;
  for (size_t i = 0; i < num; i++) {
    comparisons[i].runs = comparisons[i].programs =
        (ppi_decision){.verdict = PPI_VERDICT_AMBIGUOUS};
    estimate(&comparisons[i]);
    num_runs += comparisons[i].is_read;
    num_programs += ppi_programs_can_test(&comparisons[i]);
  }
  for (size_t i = 0; i < num; i++) {
    bool is_energy = ppi_metric_is_energy(comparisons[i].metric);
    if (comparisons[i].is_read)
      (is_energy ? test_energy : test)(&comparisons[i], num_runs);
    if (ppi_programs_can_test(&comparisons[i]))
      ppi_programs_test(&comparisons[i], num_programs);
  }
  correct(comparisons, num, p, scratch);
  ppi_free(p);
  ppi_free(scratch);
}
