// SPDX-License-Identifier: Apache-2.0
//
// Slower means that the change is above the margin, surely even after the
// correction for the number of comparisons. Same means that both bounds, each
// of which is wrong once in twenty, lie within the margin. Everything else is
// ambiguous.
#include "compare/compare_judge.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
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
  if (comparison->reason[0]) return;
  snprintf(comparison->reason, sizeof comparison->reason,
           "%c has %.0f %s, %s needs %zu", side, floor(have), what,
           ppi_metric_name(comparison->metric),
           ppi_metric_need(comparison->metric));
}

// Whether the estimates are worth a test; if not, says why.
static bool has_enough(ppi_comparison *comparison) {
  size_t need = ppi_metric_need(comparison->metric);
  for (int i = 0; i < 2; i++) {
    const ppi_estimate *estimate = &comparison->estimates[i];
    char side = "AB"[i];
    if (!comparison->stages[i])
      snprintf(comparison->reason, sizeof comparison->reason, "only in %c",
               "BA"[i]);
    else if (estimate->n < need)
      refuse_few(comparison, side, (double)estimate->n, "samples");
    else if (estimate->value <= 0 && !comparison->reason[0])
      snprintf(comparison->reason, sizeof comparison->reason,
               "takes no time in %c", side);
    else if (estimate->independent < (double)need)
      refuse_few(comparison, side, estimate->independent,
                 "surely independent samples");
  }
  return comparison->reason[0] == 0;
}

// All that needs no look at the order of the calls; the values of those that
// are worth one are found there.
static bool estimate(ppi_comparison *comparison) {
  size_t need = ppi_metric_need(comparison->metric);
  ppi_runs runs[2];
  bool is_read = true;
  for (unsigned i = 0; i < 2; i++) {
    const ppi_compare_stage *stage = comparison->stages[i];
    if (stage) runs[i] = ppi_compare_stage_runs(stage);
    is_read &= stage && ppi_runs_count(&runs[i]) >= need &&
               ppi_runs_take_time(&runs[i], comparison->metric);
  }
  comparison->is_read = is_read;
  for (unsigned i = 0; i < 2 && !is_read; i++) {
    ppi_estimate *out = &comparison->estimates[i];
    if (!comparison->stages[i]) continue;
    if (!ppi_estimate_of(&runs[i], comparison->metric, out)) return false;
    out->independent = (double)out->n;
  }
  if (!is_read) has_enough(comparison);
  return true;
}

// As far as an error of `distance` may move the ratio, up or down.
static double span_of(const ppi_ratio *ratio, double distance) {
  double seen = ppi_ratio_at(ratio, 0);
  return PPI_MAX(ppi_ratio_at(ratio, distance) / seen,
                 seen / ppi_ratio_at(ratio, -distance));
}

static bool is_same(const ppi_comparison *comparison, const ppi_ratio *ratio) {
  double reach = ppi_ratio_reach(ratio, PPI_MIXTURE_USUAL, PPI_COMPARE_ALPHA);
  return ppi_ratio_at(ratio, -reach) * (1 + comparison->margin) >= 1 &&
         ppi_ratio_at(ratio, reach) <= 1 + comparison->margin;
}

// What could be told, as one of `num_tests`; a verdict but for p.
static void tell(ppi_comparison *comparison, const ppi_ratio *ratio,
                 size_t num_tests) {
  double alpha = PPI_COMPARE_ALARM / 2 / (double)num_tests;
  double reach = ppi_ratio_reach(ratio, PPI_MIXTURE_WORST, alpha) +
                 ppi_ratio_reach(ratio, PPI_MIXTURE_WORST, 0.1);
  comparison->detectable = (1 + comparison->margin) * span_of(ratio, reach) - 1;
  reach = ppi_ratio_reach(ratio, PPI_MIXTURE_USUAL, PPI_COMPARE_ALPHA / 2);
  comparison->ratio = ppi_ratio_at(ratio, 0);
  comparison->low = ppi_ratio_at(ratio, -reach);
  comparison->high = ppi_ratio_at(ratio, reach);
  // The correction makes p at most so many times what it is.
  if (comparison->p * (double)num_tests >= PPI_COMPARE_ALARM &&
      is_same(comparison, ratio))
    comparison->verdict = PPI_VERDICT_SAME;
}

// The interval, and how likely the data is if the change were within the
// margin.
static bool test(ppi_comparison *comparison, size_t num_tests) {
  const ppi_runs a = ppi_compare_stage_runs(comparison->stages[0]);
  const ppi_runs b = ppi_compare_stage_runs(comparison->stages[1]);
  ppi_ratio ratio = {.num_mixtures = 0};
  bool ok = ppi_ratio_open(&ratio, &a, &b, comparison->metric);
  if (ok) {
    double p_rank = ppi_ratio_p(&ratio, 0);
    comparison->p = ppi_ratio_p(&ratio, comparison->margin);
    for (int i = 0; i < 2; i++) {
      const ppi_ratio_side *side = &ratio.sides[i];
      comparison->estimates[i] =
          (ppi_estimate){side->n, side->independent, side->value};
    }
    comparison->is_tested = has_enough(comparison);
    if (comparison->is_tested) {
      comparison->p_rank = p_rank;
      tell(comparison, &ratio, num_tests);
    } else {
      comparison->p = 1;
    }
  }
  ppi_ratio_close(&ratio);
  return ok;
}

static void decide(ppi_comparison *comparison) {
  if (comparison->p < PPI_COMPARE_ALARM)
    comparison->verdict =
        comparison->ratio > 1 ? PPI_VERDICT_SLOWER : PPI_VERDICT_FASTER;
  else if (comparison->verdict == PPI_VERDICT_SAME)
    return;
  else if (comparison->detectable > PPI_COMPARE_HUGE)
    snprintf(comparison->reason, sizeof comparison->reason,
             "too noisy to tell any change");
  else
    snprintf(comparison->reason, sizeof comparison->reason,
             "cannot tell changes below %.3g %%", 100 * comparison->detectable);
}

static void correct(ppi_comparison *comparisons, size_t num, double *p,
                    size_t *scratch) {
  size_t num_tests = 0;
  for (size_t i = 0; i < num; i++)
    if (comparisons[i].is_read) p[num_tests++] = comparisons[i].p;
  ppi_holm(p, num_tests, scratch);
  for (size_t i = 0, at = 0; i < num; i++) {
    if (!comparisons[i].is_read) continue;
    comparisons[i].p = p[at++];
    if (comparisons[i].is_tested) decide(&comparisons[i]);
  }
}

bool ppi_judge(ppi_comparison *comparisons, size_t num) {
  double *p = ppi_alloc((num + 1) * sizeof *p);
  size_t *scratch = ppi_alloc((num + 1) * sizeof *scratch), num_tests = 0;
  bool ok = p && scratch;
  for (size_t i = 0; ok && i < num; i++) {
    comparisons[i].verdict = PPI_VERDICT_AMBIGUOUS;
    comparisons[i].reason[0] = '\0';
    comparisons[i].is_tested = false;
    ok = estimate(&comparisons[i]);
    num_tests += comparisons[i].is_read;
  }
  for (size_t i = 0; ok && i < num; i++)
    if (comparisons[i].is_read) ok = test(&comparisons[i], num_tests);
  if (ok) correct(comparisons, num, p, scratch);
  ppi_free(p);
  ppi_free(scratch);
  return ok;
}
