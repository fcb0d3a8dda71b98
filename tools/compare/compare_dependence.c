// SPDX-License-Identifier: Apache-2.0
//
// A mean's variance is the spectrum at frequency 0, which no series shows: its
// slowest cosines show the spectrum beside it. Under each model their variances
// have known ratios to that of the mean (Mueller and Watson, 2008).
#include "compare/compare_dependence.h"

#include <math.h>

#include "base/base.h"

// More cosines say more of faster changes, which matter less; more points along
// one are no more exact.
enum { MAX_COSINES = 32, MAX_POINTS = 1024 };

// The slow part of a model: its correlation falls by e in `length` calls, and
// its spectrum at frequency 0 is `height` times the noise's. The first model
// has none. Lengths double from 4 calls on; heights go in fours, from one that
// is hardly seen to a variance of ten times the noise's.
typedef struct slow_model {
  double length, height;
  double prior;  // not normalised
} slow_model;

static const double shortest = 4, largest_share = 10;
// How likely it is that nothing depends on anything; and what lasts longer than
// so many calls is the less likely the longer it does.
static const double prior_of_none = 0.1, usual_length = 64;

// Where the worst is asked for, a model counts by its likelihood beside the
// best one's, over this. More finds smaller changes, and takes drifts below the
// noise for changes: at 5 in up to 15 of 100 pairs, at 2 in up to 6.
static const double doubt = 1.5;

static double share_of(double length, double height) {
  return height * tanh(0.5 / length);
}

// The slow models up to a length, in order. Answers how many models there are.
static size_t fill_models(double longest, slow_model *out) {
  size_t num = 1;
  double sum = 0;
  out[0] = (slow_model){1, 0, 1};
  for (double length = shortest; length <= longest && num < PPI_MAX_MODELS;
       length *= 2) {
    size_t first = num;
    double height = 1, prior = sqrt(PPI_MIN(usual_length / length, 1.0));
    for (; share_of(length, height) <= largest_share && num < PPI_MAX_MODELS;
         height *= 4)
      out[num++] = (slow_model){length, height, 0};
    for (size_t i = first; i < num; i++)
      out[i].prior = prior / (double)(num - first);
    sum += prior;
  }
  if (num > 1) out[0].prior = sum * prior_of_none / (1 - prior_of_none);
  return num;
}

static const slow_model *models(void) {
  static slow_model all[PPI_MAX_MODELS];
  if (all[0].length <= 0) fill_models(INFINITY, all);
  return all;
}

size_t ppi_num_models(size_t longest) {
  slow_model some[PPI_MAX_MODELS];
  return fill_models(2 * (double)longest, some);
}

// The variances of the cosines of a run of n values, the slowest first; in
// front of them n times that of the mean. Short runs see little of a slow part,
// and its ends leak.
static void variances_of(size_t model, size_t n, size_t num, double *out) {
  double height = models()[model].height;
  double lengths = (double)n / models()[model].length;
  double squared = lengths * lengths, gone = exp(-lengths);
  out[0] = 1 + height * (1 + expm1(-lengths) / lengths);
  for (size_t j = 1; j <= num; j++) {
    double sum = squared + M_PI * M_PI * (double)(j * j);
    double ends = 2 * lengths * (j % 2 ? 1 + gone : 1 - gone) / sum;
    out[j] = 1 + height * squared / sum * (1 - ends);
  }
}

static double mean_of(const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  return sum / (double)n;
}

static size_t num_cosines(size_t n) {
  return PPI_MIN(n / 4, (size_t)MAX_COSINES);
}

// The squares of the series' coefficients, the slowest cosine's first.
static void squares_of(const double *values, size_t n, double *out) {
  double points[MAX_POINTS], mean = mean_of(values, n);
  size_t stride = (n + MAX_POINTS - 1) / MAX_POINTS, num = 0;
  for (size_t at = 0; at < n; num++) {
    points[num] = 0;
    for (size_t i = 0; i < stride && at < n; i++)
      points[num] += values[at++] - mean;
  }
  for (size_t j = 1; j <= num_cosines(n); j++) {
    double step = M_PI * (double)(j * stride) / (double)n, sum = 0;
    double turn_x = cos(step), turn_y = sin(step);
    double x = cos(step / 2), y = sin(step / 2);
    for (size_t i = 0; i < num; i++) {
      sum += points[i] * x;
      double next = x * turn_x - y * turn_y;
      y = x * turn_y + y * turn_x;
      x = next;
    }
    out[j - 1] = 2 * sum * sum / (double)n;
  }
}

double ppi_variance_within(const ppi_runs *series) {
  double sum = 0;
  size_t begin = 0, n = ppi_runs_count(series);
  for (size_t i = 0; i < series->num_runs; begin = series->ends[i++]) {
    size_t len = series->ends[i] - begin;
    if (len == 0) continue;
    double mean = mean_of(series->values + begin, len);
    for (size_t k = begin; k < series->ends[i]; k++)
      sum += (series->values[k] - mean) * (series->values[k] - mean);
  }
  return n ? sum / (double)n : 0;
}

// Adds up, over the runs: log determinants into `fits`, and squares over their
// variances into `variances`. Answers how many cosines there are.
static size_t add_runs(const ppi_runs *series, size_t num_models,
                       ppi_dependence *out) {
  double squares[MAX_COSINES], variances[MAX_COSINES + 1];
  size_t begin = 0, num = 0;
  for (size_t i = 0; i < series->num_runs; begin = series->ends[i++]) {
    size_t n = series->ends[i] - begin;
    if (num_cosines(n) == 0) continue;
    squares_of(series->values + begin, n, squares);
    num += num_cosines(n);
    for (size_t m = 0; m < num_models; m++) {
      variances_of(m, n, num_cosines(n), variances);
      for (size_t j = 1; j <= num_cosines(n); j++) {
        out->fits[m] += log(variances[j]);
        out->variances[m] += squares[j - 1] / variances[j];
      }
    }
  }
  return num;
}

// The variance of the runs' own means; 0 of a single run.
static double variance_between(const ppi_runs *series) {
  double sum = 0, mean = mean_of(series->values, ppi_runs_count(series));
  size_t begin = 0, num = 0;
  for (size_t i = 0; i < series->num_runs; begin = series->ends[i++]) {
    size_t len = series->ends[i] - begin;
    if (len == 0) continue;
    double off = mean_of(series->values + begin, len) - mean;
    sum += off * off;
    num++;
  }
  return num > 1 ? sum / (double)(num - 1) : 0;
}

// The error of the mean of all runs, where one value has a variance of `each`
// and a noise of `noise` times that. Runs that differ by more than their own
// errors explain have a spread of their own, which counts once a run.
static void join_runs(const ppi_runs *series, size_t model, double each,
                      double noise, ppi_dependence *out) {
  size_t begin = 0, n = ppi_runs_count(series), num = 0;
  double own = 0, all = 0, weights = 0, time = 0, times;
  for (size_t i = 0; i < series->num_runs; begin = series->ends[i++]) {
    size_t len = series->ends[i] - begin;
    if (len == 0) continue;
    double weight = (double)len / (double)n;
    variances_of(model, len, 0, &times);
    times = PPI_MAX(noise * times, 1.0);
    own += times * each / (double)len;
    all += weight * weight * times * each / (double)len;
    weights += weight * weight;
    time += weight * times;
    num++;
  }
  double spread = out->between - own / (double)num;
  spread = num > 1 ? PPI_MAX(spread, 0.0) * weights : 0;
  double parts = all * all / out->degrees[model];
  if (spread > 0) parts += spread * spread / (double)(num - 1);
  out->variances[model] = all + spread;
  if (parts > 0) out->degrees[model] = (all + spread) * (all + spread) / parts;
  out->times[model] = time;
}

void ppi_dependence_of(const ppi_runs *series, size_t num_models, double each,
                       ppi_dependence *out) {
  double within = ppi_variance_within(series);
  out->between = variance_between(series);
  for (size_t m = 0; m < num_models; m++) out->fits[m] = out->variances[m] = 0;
  size_t num = within > 0 ? add_runs(series, num_models, out) : 0;
  for (size_t m = 0; m < num_models; m++) {
    double noise = 0;
    out->degrees[m] = num ? (double)num : (double)ppi_runs_count(series);
    if (num) {
      double sum = PPI_MAX(out->variances[m], 1e-12 * within);
      noise = sum / (double)num / within;
      out->fits[m] = -(out->fits[m] + (double)num * log(sum)) / 2;
    }
    join_runs(series, m, each, noise, out);
  }
}

void ppi_mixture_of(const ppi_dependence sides[2], size_t num_models,
                    ppi_mixture *out, double out_times[2]) {
  const ppi_dependence *a = &sides[0], *b = &sides[1];
  double best = -INFINITY, sum = 0;
  out->num = num_models;
  out_times[0] = out_times[1] = 0;
  for (size_t m = 0; m < num_models; m++)
    best = PPI_MAX(best, a->fits[m] + b->fits[m]);
  for (size_t m = 0; m < num_models; m++) {
    double fit = exp(a->fits[m] + b->fits[m] - best);
    double weight = fit * models()[m].prior;
    double of_a = a->variances[m], of_b = b->variances[m];
    double both = of_a + of_b;
    double parts = of_a * of_a / a->degrees[m] + of_b * of_b / b->degrees[m];
    out->weights[m] = weight;
    out->fits[m] = fit;
    out->errors[m] = sqrt(both);
    out->degrees[m] = parts > 0 ? both * both / parts : 1e6;
    out_times[0] += weight * a->times[m];
    out_times[1] += weight * b->times[m];
    sum += weight;
  }
  for (size_t i = 0; i < out->num; i++) out->weights[i] /= sum;
  out_times[0] /= sum;
  out_times[1] /= sum;
}

double ppi_mixture_tail(const ppi_mixture *mixture, ppi_mixture_kind kind,
                        double distance) {
  double usual = 0, worst = 0;
  for (size_t i = 0; i < mixture->num; i++) {
    if (mixture->fits[i] < 1e-9) continue;
    double tail =
        ppi_student_tail(distance / mixture->errors[i], mixture->degrees[i]);
    usual += mixture->weights[i] * tail;
    worst = PPI_MAX(worst, mixture->fits[i] / doubt * tail);
  }
  return kind == PPI_MIXTURE_WORST ? PPI_MAX(usual, worst) : usual;
}

double ppi_mixture_reach(const ppi_mixture *mixture, ppi_mixture_kind kind,
                         double p) {
  double low = 0, high = 0;
  for (size_t i = 0; i < mixture->num; i++)
    high += mixture->weights[i] * mixture->errors[i];
  while (ppi_mixture_tail(mixture, kind, high) > p && high < 1e12) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 12; i++) {
    double middle = (low + high) / 2;
    if (ppi_mixture_tail(mixture, kind, middle) > p)
      low = middle;
    else
      high = middle;
  }
  return high;
}
