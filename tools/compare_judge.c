// SPDX-License-Identifier: Apache-2.0
//
// Slower means all three: the interval of the ratio lies above the margin, the
// rank test sees it too, and both still hold after the correction for the
// number of comparisons. Same means that the interval lies within the margin.
// Everything else is ambiguous.
#include "compare_judge.h"

#include <math.h>
#include <stdio.h>

#include "base_impl.h"
#include "mem.h"

static const char *const verdict_names[PPI_NUM_VERDICTS] = {
    [PPI_VERDICT_FASTER] = "faster",
    [PPI_VERDICT_SLOWER] = "slower",
    [PPI_VERDICT_SAME] = "same",
    [PPI_VERDICT_AMBIGUOUS] = "ambiguous"};

const char *ppi_verdict_name(ppi_verdict verdict) {
  return verdict_names[verdict];
}

// By the stage alone, so that the same data gives the same figures in whatever
// company.
static uint64_t seed_of(const ppi_compare_stage *stage, unsigned salt) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *at = stage->name; *at; at++)
    hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
  return hash + 4 * salt + stage->on_device;
}

// The error of the logarithm of the ratio.
typedef struct ratio_error {
  double change, error, degrees;
} ratio_error;

static ratio_error ratio_of(const ppi_comparison *comparison) {
  const ppi_estimate *a = &comparison->estimates[0];
  const ppi_estimate *b = &comparison->estimates[1];
  double of_a = a->log_error * a->log_error, of_b = b->log_error * b->log_error;
  double sum = of_a + of_b;
  double squares = of_a * of_a / PPI_MAX(a->degrees, 1.0) +
                   of_b * of_b / PPI_MAX(b->degrees, 1.0);
  return (ratio_error){log(b->value / a->value), sqrt(sum),
                       squares > 0 ? PPI_MIN(sum * sum / squares, 1e6) : 1e6};
}

static void refuse_few(ppi_comparison *comparison, char side, double have,
                       const char *what) {
  if (comparison->reason[0]) return;
  snprintf(comparison->reason, sizeof comparison->reason,
           "%c has %.0f %s, %s needs %zu", side, floor(have), what,
           ppi_metric_name(comparison->metric),
           ppi_metric_need(comparison->metric));
}

// Whether there is anything to test; if not, says why.
static bool is_testable(ppi_comparison *comparison) {
  size_t need = ppi_metric_need(comparison->metric);
  for (int i = 0; i < 2; i++) {
    const ppi_estimate *estimate = &comparison->estimates[i];
    char side = "AB"[i];
    if (!comparison->stages[i])
      snprintf(comparison->reason, sizeof comparison->reason, "only in %c",
               "BA"[i]);
    else if (estimate->n < need)
      refuse_few(comparison, side, (double)estimate->n, "samples");
    else if (estimate->independent < (double)need)
      refuse_few(comparison, side, estimate->independent,
                 "independent samples");
    else if (estimate->value <= 0 && !comparison->reason[0])
      snprintf(comparison->reason, sizeof comparison->reason,
               "takes no time in %c", side);
  }
  return comparison->reason[0] == 0;
}

static bool estimate(ppi_comparison *comparison) {
  for (unsigned i = 0; i < 2; i++) {
    const ppi_compare_stage *stage = comparison->stages[i];
    if (!stage) continue;
    const ppi_runs runs = ppi_compare_stage_runs(stage);
    if (!ppi_estimate_of(&runs, comparison->metric,
                         seed_of(stage, comparison->metric),
                         &comparison->estimates[i]))
      return false;
  }
  return true;
}

// The interval, and how likely the data is if the change were within the
// margin: by the interval, by ranks, and by both.
static bool test(ppi_comparison *comparison) {
  ratio_error error = ratio_of(comparison);
  double reach =
      error.error * ppi_student_quantile(PPI_COMPARE_ALPHA / 2, error.degrees);
  double above = fabs(error.change) - log1p(comparison->margin);
  ppi_rank_test ranks;
  const ppi_runs a = ppi_compare_stage_runs(comparison->stages[0]);
  const ppi_runs b = ppi_compare_stage_runs(comparison->stages[1]);
  if (!ppi_rank_test_of(&a, &b, comparison->metric, &ranks)) return false;
  comparison->ratio = exp(error.change);
  comparison->low = exp(error.change - reach);
  comparison->high = exp(error.change + reach);
  comparison->p_rank = ranks.p;
  comparison->p = 1;
  if (above <= 0 || (ranks.shift - 0.5) * error.change <= 0) return true;
  double by_interval = 2 * ppi_student_tail(above / error.error, error.degrees);
  comparison->p = PPI_MAX(by_interval, ranks.p);
  return true;
}

static void decide(ppi_comparison *comparison, size_t num_tests) {
  ratio_error error = ratio_of(comparison);
  double margin = log1p(comparison->margin);
  double reach = ppi_student_quantile(PPI_COMPARE_ALPHA / 2 / (double)num_tests,
                                      error.degrees) +
                 ppi_student_quantile(0.1, error.degrees);
  comparison->detectable = expm1(margin + reach * error.error);
  if (comparison->p < PPI_COMPARE_ALPHA) {
    comparison->verdict =
        error.change > 0 ? PPI_VERDICT_SLOWER : PPI_VERDICT_FASTER;
  } else if (log(comparison->low) >= -margin &&
             log(comparison->high) <= margin) {
    comparison->verdict = PPI_VERDICT_SAME;
  } else if (fabs(error.change) > margin + reach * error.error) {
    snprintf(comparison->reason, sizeof comparison->reason,
             "interval and ranks do not agree");
  } else if (comparison->detectable > PPI_COMPARE_HUGE) {
    snprintf(comparison->reason, sizeof comparison->reason,
             "too noisy to tell any change");
  } else {
    snprintf(comparison->reason, sizeof comparison->reason,
             "cannot tell changes below %.3g %%", 100 * comparison->detectable);
  }
}

static void correct(ppi_comparison *comparisons, size_t num, double *p,
                    size_t *scratch) {
  size_t num_tests = 0;
  for (size_t i = 0; i < num; i++)
    if (comparisons[i].is_tested) p[num_tests++] = comparisons[i].p;
  ppi_holm(p, num_tests, scratch);
  for (size_t i = 0, at = 0; i < num; i++) {
    if (!comparisons[i].is_tested) continue;
    comparisons[i].p = p[at++];
    decide(&comparisons[i], num_tests);
  }
}

bool ppi_judge(ppi_comparison *comparisons, size_t num) {
  double *p = ppi_alloc((num + 1) * sizeof *p);
  size_t *scratch = ppi_alloc((num + 1) * sizeof *scratch);
  bool ok = p && scratch;
  for (size_t i = 0; ok && i < num; i++) {
    ppi_comparison *comparison = &comparisons[i];
    comparison->verdict = PPI_VERDICT_AMBIGUOUS;
    comparison->reason[0] = '\0';
    ok = estimate(comparison);
    comparison->is_tested = ok && is_testable(comparison);
    if (comparison->is_tested) ok = test(comparison);
  }
  if (ok) correct(comparisons, num, p, scratch);
  ppi_free(p);
  ppi_free(scratch);
  return ok;
}
