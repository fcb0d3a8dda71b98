// SPDX-License-Identifier: Apache-2.0
//
// Estimates the error of a mean of calls that depend on each other. The
// variance of a mean is the spectrum at frequency 0, which no series shows. The
// slowest cosines of a series show the spectrum beside it. Under each model
// their variances have known ratios to the mean's (Mueller and Watson, 2008).
#include "compare/compare_dependence.h"

#include <float.h>
#include <math.h>

#include "base/base.h"

// More cosines only add faster changes, which matter less. More points add no
// accuracy.
enum { MAX_COSINES = 32, MAX_POINTS = 1024 };

// The slow part of a model. Its correlation falls by e in `length` calls; its
// spectrum at frequency 0 is `height` times the noise's. The first model has no
// slow part. Lengths double from 4 calls on. Heights grow fourfold from 1 until
// the variance is ten times the noise's.
typedef struct slow_model {
  double length, height;
  double prior;  // not normalised
} slow_model;

static const double shortest = 4, largest_share = 10;
// The prior of independent calls. Beyond usual_length calls, the prior of a
// longer dependence is smaller.
static const double prior_of_none = 0.1, usual_length = 64;

// A run shows enough levels that are shorter than a 16th of it. Longer levels
// need evidence: evidence_of_calls by the length of the run. In long runs such
// models cost little, so less evidence will do.
static const double brief_lengths = 16, longest_stay = 1.5;
static const double evidence_of_calls = 200;
// The least evidence for a message.
static const double said_evidence = 10;

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

static size_t num_up_to(double length) {
  slow_model some[PPI_MAX_MODELS];
  return fill_models(PPI_MAX(length, shortest), some);
}

ppi_models ppi_models_for(size_t longest) {
  double length = (double)longest;
  return (ppi_models){.brief = num_up_to(length / brief_lengths),
                      .usual = num_up_to(length / PPI_RUN_LENGTHS),
                      .all = num_up_to(length * longest_stay),
                      .evidence = evidence_of_calls / length};
}

// The variances of the cosines of a run of n values, the slowest first; out[0]
// is n times the mean's. A short run shows little of a slow part, and its ends
// leak.
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

static size_t num_cosines(size_t n) {
  return PPI_MIN(n / 4, (size_t)MAX_COSINES);
}

// A run of a series: sums of values that follow each other, about its mean.
typedef struct run_points {
  double mean, squares;  // of all its values, about the mean
  double points[MAX_POINTS];
  size_t n, num, stride;
} run_points;

static double sum_of(const float *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  return sum;
}

static void add_times(const float *values, double mean, run_points *run) {
  double own = sum_of(values, run->n) / (double)run->n;
  for (size_t at = 0; at < run->n; run->num++) {
    size_t end = PPI_MIN(at + run->stride, run->n);
    double sum = 0, squares = 0;
    for (; at < end; at++) {
      double off = values[at] - own;
      sum += off;
      squares += off * off;
    }
    run->points[run->num] = sum / mean;
    run->squares += squares / mean / mean;
  }
  run->mean = own / mean;
}

// Adds shares of 0, a half and 1, and counts them.
static void add_shares(const float *values, float level, run_points *run) {
  size_t all_below = 0, all_upto = 0;
  for (size_t at = 0; at < run->n; run->num++) {
    size_t end = PPI_MIN(at + run->stride, run->n);
    unsigned below = 0, upto = 0;
    for (; at < end; at++) {
      below += values[at] < level;
      upto += values[at] <= level;
    }
    run->points[run->num] = (below + (double)upto) / 2;
    all_below += below;
    all_upto += upto;
  }
  double n = (double)run->n;
  run->mean = (double)(all_below + all_upto) / 2 / n;
  run->squares =
      (double)(3 * all_below + all_upto) / 4 - n * run->mean * run->mean;
  for (size_t i = 0, at = 0; i < run->num; i++, at += run->stride)
    run->points[i] -= (double)PPI_MIN(run->stride, run->n - at) * run->mean;
}

static void fill_points(const ppi_series *series, size_t begin, size_t n,
                        run_points *out) {
  out->n = n;
  out->num = 0;
  out->squares = 0;
  out->stride = (n + MAX_POINTS - 1) / MAX_POINTS;
  if (series->mean > 0)
    add_times(series->runs.values + begin, series->mean, out);
  else
    add_shares(series->runs.values + begin, series->level, out);
}

// The squares of the run's coefficients, the slowest cosine's first.
static void squares_of(const run_points *run, double *out) {
  double n = (double)run->n;
  for (size_t j = 1; j <= num_cosines(run->n); j++) {
    double step = M_PI * (double)(j * run->stride) / n, sum = 0;
    double turn_x = cos(step), turn_y = sin(step);
    double x = cos(step / 2), y = sin(step / 2);
    for (size_t i = 0; i < run->num; i++) {
      sum += run->points[i] * x;
      double next = x * turn_x - y * turn_y;
      y = x * turn_y + y * turn_x;
      x = next;
    }
    out[j - 1] = 2 * sum * sum / n;
  }
}

double ppi_variance_within(const ppi_series *series) {
  const ppi_runs *runs = &series->runs;
  double sum = 0;
  size_t begin = 0, n = ppi_runs_count(runs);
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++]) {
    run_points run;
    if (runs->ends[i] == begin) continue;
    fill_points(series, begin, runs->ends[i] - begin, &run);
    sum += run.squares;
  }
  return n ? sum / (double)n : 0;
}

// The variances of a run of n values under each model, and the sum of their
// logarithms. Runs of one length share them.
typedef struct length_models {
  size_t n, num;
  double logs[PPI_MAX_MODELS];
  double variances[PPI_MAX_MODELS][MAX_COSINES + 1];
} length_models;

static void fill_length(size_t n, size_t num_models, length_models *out) {
  if (out->n == n && out->num == num_models) return;
  out->n = n;
  out->num = num_models;
  for (size_t m = 0; m < num_models; m++) {
    variances_of(m, n, num_cosines(n), out->variances[m]);
    out->logs[m] = 0;
    for (size_t j = 1; j <= num_cosines(n);) {
      // Variances are at least 1, and the product of 16 fits a double.
      double product = 1;
      for (size_t end = PPI_MIN(j + 16, num_cosines(n) + 1); j < end; j++)
        product *= out->variances[m][j];
      out->logs[m] += log(product);
    }
  }
}

// Adds log determinants to `fits`, and squares over their variances to
// `variances`. Answers how many cosines there are.
static size_t add_run(const run_points *run, size_t num_models,
                      length_models *length, ppi_dependence *out) {
  double squares[MAX_COSINES];
  size_t num = num_cosines(run->n);
  if (num == 0) return 0;
  squares_of(run, squares);
  fill_length(run->n, num_models, length);
  for (size_t m = 0; m < num_models; m++) {
    out->fits[m] += length->logs[m];
    for (size_t j = 1; j <= num; j++)
      out->variances[m] += squares[j - 1] / length->variances[m][j];
  }
  return num;
}

// Answers how many cosines there are; `*out_within` is the variance of values
// about the mean of their run, 0 where all are alike.
static size_t add_runs(const ppi_series *series, size_t num_models,
                       ppi_dependence *out, double *out_within) {
  const ppi_runs *runs = &series->runs;
  length_models length;
  size_t begin = 0, num = 0, n = ppi_runs_count(runs);
  length.n = 0;
  *out_within = 0;
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++]) {
    run_points run;
    if (runs->ends[i] == begin) continue;
    fill_points(series, begin, runs->ends[i] - begin, &run);
    *out_within += run.squares;
    num += add_run(&run, num_models, &length, out);
  }
  if (n) *out_within /= (double)n;
  return *out_within > 0 ? num : 0;
}

// The error of the mean of all runs. One value has a variance of `each`, and a
// noise of `noise` times that.
static void join_runs(const ppi_runs *runs, size_t model, double each,
                      double noise, ppi_dependence *out) {
  size_t begin = 0, n = ppi_runs_count(runs), known = 0;
  double all = 0, time = 0, alone = 0;
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++]) {
    size_t len = runs->ends[i] - begin;
    if (len == 0) continue;
    double weight = (double)len / (double)n;
    if (len != known) variances_of(model, len, 0, &alone);
    known = len;
    double times = PPI_MAX(noise * alone, 1.0);
    all += weight * weight * times * each / (double)len;
    time += weight * times;
  }
  out->variances[model] = all;
  out->times[model] = time;
}

void ppi_dependence_of(const ppi_series *series, size_t num_models, double each,
                       ppi_dependence *out) {
  double within;
  for (size_t m = 0; m < num_models; m++) out->fits[m] = out->variances[m] = 0;
  size_t num = add_runs(series, num_models, out, &within);
  for (size_t m = 0; m < num_models; m++) {
    double noise = 0;
    out->degrees[m] = (double)(num ? num : ppi_runs_count(&series->runs));
    if (num) {
      double sum = PPI_MAX(out->variances[m], 1e-12 * within);
      noise = sum / (double)num / within;
      out->fits[m] = -(out->fits[m] + (double)num * log(sum)) / 2;
    } else {
      out->fits[m] = 0;
    }
    join_runs(&series->runs, m, each, noise, out);
  }
}

// Models of levels as long as a run, or longer, count only if calls show such
// levels. Otherwise they would make every change uncertain.
static void weigh(const double *fits, ppi_models num, ppi_mixture *out) {
  double best = -INFINITY, sums[2] = {0}, priors[2] = {0};
  for (size_t m = 0; m < num.all; m++) best = PPI_MAX(best, fits[m]);
  for (size_t m = 0; m < num.all; m++) {
    bool is_long = m >= num.brief;
    out->weights[m] = exp(fits[m] - best) * models()[m].prior;
    sums[is_long] += out->weights[m];
    priors[is_long] += models()[m].prior;
  }
  double evidence =
      num.all > num.brief ? sums[1] / priors[1] * priors[0] / sums[0] : 0;
  double sum = 0, length = 0;
  out->num = evidence > num.evidence ? num.all : num.usual;
  for (size_t m = 0; m < out->num; m++) sum += out->weights[m];
  for (size_t m = 0; m < out->num; m++) {
    out->weights[m] /= sum;
    length += out->weights[m] * models()[m].length;
  }
  bool is_said = evidence > PPI_MAX(num.evidence, said_evidence);
  out->stays_for = is_said ? length : 0;
}

void ppi_mixture_of(const ppi_dependence sides[2], ppi_models num,
                    ppi_mixture *out, double out_times[2]) {
  const ppi_dependence *a = &sides[0], *b = &sides[1];
  double fits[PPI_MAX_MODELS];
  for (size_t m = 0; m < num.all; m++) fits[m] = a->fits[m] + b->fits[m];
  weigh(fits, num, out);
  double usual = 0;
  out_times[0] = out_times[1] = 0;
  for (size_t m = 0; m < out->num; m++) {
    double of_a = a->variances[m], of_b = b->variances[m];
    double both = of_a + of_b;
    double parts = of_a * of_a / a->degrees[m] + of_b * of_b / b->degrees[m];
    out->errors[m] = sqrt(both);
    out->students[m] = ppi_student_of(parts > 0 ? both * both / parts : 1e6);
    if (m >= num.usual) continue;
    usual += out->weights[m];
    out_times[0] += out->weights[m] * a->times[m];
    out_times[1] += out->weights[m] * b->times[m];
  }
  usual = PPI_MAX(usual, DBL_MIN);
  out_times[0] /= usual;
  out_times[1] /= usual;
}

double ppi_mixture_tail(const ppi_mixture *mixture, double distance) {
  double tail = 0;
  for (size_t i = 0; i < mixture->num; i++)
    if (mixture->weights[i] > 1e-9)
      tail += mixture->weights[i] *
              ppi_student_tail_of(&mixture->students[i],
                                  distance / mixture->errors[i]);
  return tail;
}

double ppi_mixture_reach(const ppi_mixture *mixture, double p) {
  double low = 0, high = 0;
  for (size_t i = 0; i < mixture->num; i++)
    high += mixture->weights[i] * mixture->errors[i];
  while (ppi_mixture_tail(mixture, high) > p && high < 1e12) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 12; i++) {
    double middle = (low + high) / 2;
    if (ppi_mixture_tail(mixture, middle) > p)
      low = middle;
    else
      high = middle;
  }
  return high;
}
