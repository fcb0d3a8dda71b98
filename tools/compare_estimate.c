// SPDX-License-Identifier: Apache-2.0
//
// Estimates with their errors: the circular block bootstrap of each run, and
// what the runs add; and the rank test, which needs the same sums.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base_impl.h"
#include "compare_stats.h"
#include "mem.h"

// Longer runs are thinned: more samples would make the error smaller than what
// differs from run to run anyway.
enum { MAX_SAMPLES = 8192, NUM_REPLICATES = 400 };

static const double quantiles[PPI_NUM_METRICS] = {
    [PPI_METRIC_P50] = 0.50, [PPI_METRIC_P90] = 0.90, [PPI_METRIC_P99] = 0.99};

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// Steele, Lea and Flood's SplitMix64.
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static size_t random_below(uint64_t *state, size_t n) {
  return (size_t)((unsigned __int128)next_random(state) * n >> 64);
}

static size_t nearest_rank(double q, size_t n) {
  size_t rank = (size_t)ceil(q * (double)n - 1e-9);
  return PPI_MIN(PPI_MAX(rank, (size_t)1), n) - 1;
}

static double mean_of(const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  return sum / (double)n;
}

// A sum of independent parts, each known to so many degrees of freedom;
// together they have as many as Welch and Satterthwaite say.
typedef struct error_sum {
  double variance, squares;
} error_sum;

static void add_part(error_sum *sum, double variance, double degrees) {
  sum->variance += variance;
  sum->squares += variance * variance / PPI_MAX(degrees, 1.0);
}

static double degrees_of(const error_sum *sum) {
  if (sum->squares <= 0) return 1e6;
  return PPI_MIN(sum->variance * sum->variance / sum->squares, 1e6);
}

// What one run says of a figure.
typedef struct run_part {
  double value, variance, degrees, weight;
  double time;  // of its dependence
} run_part;

// Runs that differ by more than their own errors explain have a spread of their
// own, which counts once a run.
static error_sum sum_of_runs(const run_part *parts, size_t num) {
  error_sum sum = {0, 0};
  double mean = 0, spread = 0, own = 0, squared_weights = 0;
  for (size_t i = 0; i < num; i++) {
    const run_part *part = &parts[i];
    double squared = part->weight * part->weight;
    add_part(&sum, squared * part->variance, part->degrees);
    mean += part->value / (double)num;
    own += part->variance / (double)num;
    squared_weights += squared;
  }
  if (num < 2) return sum;
  for (size_t i = 0; i < num; i++)
    spread += (parts[i].value - mean) * (parts[i].value - mean);
  spread = spread / (double)(num - 1) - own;
  if (spread > 0) add_part(&sum, spread * squared_weights, (double)(num - 1));
  return sum;
}

static size_t stride_of(size_t n) {
  return (n + MAX_SAMPLES - 1) / MAX_SAMPLES;
}

static size_t thin(const double *values, size_t n, double *out) {
  size_t kept = 0, stride = PPI_MAX(stride_of(n), (size_t)1);
  for (size_t i = 0; i < n; i += stride) out[kept++] = values[i];
  return kept;
}

// Room for one run of at most MAX_SAMPLES.
typedef struct workspace {
  double values[MAX_SAMPLES], sorted[MAX_SAMPLES], influence[MAX_SAMPLES];
  double sums[2 * MAX_SAMPLES + 1];  // of the values, twice round
  uint32_t places[2 * MAX_SAMPLES];  // in `sorted`, twice round
  uint32_t counts[MAX_SAMPLES];
  size_t n;
} workspace;

typedef struct pair {
  double value;
  uint32_t place;
} pair;

static int by_pair(const void *a, const void *b) {
  return by_value(&((const pair *)a)->value, &((const pair *)b)->value);
}

static bool prepare(workspace *work) {
  size_t n = work->n;
  pair *pairs = ppi_alloc(n * sizeof *pairs);
  if (!pairs) return false;
  for (size_t i = 0; i < n; i++)
    pairs[i] = (pair){work->values[i], (uint32_t)i};
  qsort(pairs, n, sizeof *pairs, by_pair);
  for (size_t i = 0; i < n; i++) {
    work->sorted[i] = pairs[i].value;
    work->places[pairs[i].place] = (uint32_t)i;
    work->places[pairs[i].place + n] = (uint32_t)i;
  }
  ppi_free(pairs);
  work->sums[0] = 0;
  for (size_t i = 0; i < 2 * n; i++)
    work->sums[i + 1] = work->sums[i] + work->values[i % n];
  return true;
}

// One replicate: blocks from anywhere on the circle until there are n values.
static double replicate_mean(const workspace *work, size_t block_len,
                             uint64_t *random) {
  double sum = 0;
  for (size_t got = 0; got < work->n;) {
    size_t start = random_below(random, work->n);
    size_t len = PPI_MIN(block_len, work->n - got);
    sum += work->sums[start + len] - work->sums[start];
    got += len;
  }
  return sum / (double)work->n;
}

static double replicate_quantile(workspace *work, double q, size_t block_len,
                                 uint64_t *random) {
  memset(work->counts, 0, work->n * sizeof *work->counts);
  for (size_t got = 0; got < work->n;) {
    const uint32_t *from = work->places + random_below(random, work->n);
    size_t len = PPI_MIN(block_len, work->n - got);
    for (size_t i = 0; i < len; i++) work->counts[from[i]]++;
    got += len;
  }
  size_t rank = nearest_rank(q, work->n), at = 0;
  for (size_t below = work->counts[0]; below <= rank;)
    below += work->counts[++at];
  return work->sorted[at];
}

static double log_of(double ns) {
  return log(PPI_MAX(ns, 0.5));
}

// What a single sample adds to the metric, but for a factor: itself, or whether
// it lies below the percentile.
static void fill_influence(workspace *work, ppi_metric metric) {
  size_t rank = nearest_rank(quantiles[metric], work->n);
  for (size_t i = 0; i < work->n; i++)
    work->influence[i] = metric == PPI_METRIC_MEAN
                             ? work->values[i]
                             : work->values[i] <= work->sorted[rank];
}

// Blocks see only a part of the dependence; the rest is put on top.
static run_part bootstrap(workspace *work, ppi_metric metric,
                          uint64_t *random) {
  double sum = 0, squares = 0, q = quantiles[metric];
  run_part part = {0, 0, 1, 0, 1};
  bool is_mean = metric == PPI_METRIC_MEAN;
  part.value = log_of(is_mean ? mean_of(work->values, work->n)
                              : work->sorted[nearest_rank(q, work->n)]);
  if (work->n < 2) return part;
  fill_influence(work, metric);
  ppi_dependence depends = ppi_dependence_of(work->influence, work->n);
  for (int i = 0; i < NUM_REPLICATES; i++) {
    double value =
        log_of(is_mean
                   ? replicate_mean(work, depends.block_len, random)
                   : replicate_quantile(work, q, depends.block_len, random)) -
        part.value;
    sum += value;
    squares += value * value;
  }
  part.variance = (squares - sum * sum / NUM_REPLICATES) / (NUM_REPLICATES - 1);
  part.variance *= PPI_MAX(depends.time / depends.block_time, 1.0);
  part.degrees = (double)work->n / (double)depends.block_len - 1;
  part.time = depends.time;
  return part;
}

static double value_of(const ppi_runs *runs, ppi_metric metric, size_t n,
                       double *scratch) {
  if (metric == PPI_METRIC_MEAN) return mean_of(runs->values, n);
  memcpy(scratch, runs->values, n * sizeof *scratch);
  qsort(scratch, n, sizeof *scratch, by_value);
  return scratch[nearest_rank(quantiles[metric], n)];
}

static bool fill_parts(const ppi_runs *runs, ppi_metric metric, uint64_t seed,
                       run_part *parts) {
  workspace *work = ppi_alloc(sizeof *work);
  size_t begin = 0, n = ppi_runs_count(runs), num = 0;
  bool ok = work != NULL;
  for (size_t i = 0; ok && i < runs->num_runs; begin = runs->ends[i++]) {
    size_t len = runs->ends[i] - begin;
    if (len == 0) continue;
    work->n = thin(runs->values + begin, len, work->values);
    ok = prepare(work);
    if (ok) parts[num] = bootstrap(work, metric, &seed);
    parts[num++].weight = (double)len / (double)n;
  }
  ppi_free(work);
  return ok;
}

static size_t num_filled(const ppi_runs *runs) {
  size_t num = 0, begin = 0;
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++])
    num += runs->ends[i] > begin;
  return num;
}

bool ppi_estimate_of(const ppi_runs *runs, ppi_metric metric, uint64_t seed,
                     ppi_estimate *out) {
  size_t n = ppi_runs_count(runs), num = num_filled(runs);
  *out = (ppi_estimate){.n = n, .degrees = 1};
  if (n == 0) return true;
  run_part *parts = ppi_alloc(num * sizeof *parts);
  double *scratch = ppi_alloc(n * sizeof *scratch);
  bool ok = parts && scratch && fill_parts(runs, metric, seed, parts);
  if (ok) {
    error_sum sum = sum_of_runs(parts, num);
    out->value = value_of(runs, metric, n, scratch);
    out->degrees = degrees_of(&sum);
    for (size_t i = 0; i < num; i++)
      out->independent += parts[i].weight * (double)n / parts[i].time;
    // The clock counts whole ns.
    double step = 1 / PPI_MAX(out->value, 1.0);
    out->log_error = sqrt(sum.variance + step * step / 12);
  }
  ppi_free(parts);
  ppi_free(scratch);
  return ok;
}

// All samples of both sides, thinned, in runs; then their ranks.
typedef struct rank_table {
  pair *pairs;
  double *ranks;
  size_t n;
  double variance;
} rank_table;

static void append_side(rank_table *table, const ppi_runs *runs) {
  size_t begin = 0;
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++])
    table->n += thin(runs->values + begin, runs->ends[i] - begin,
                     table->ranks + table->n);
}

static void rank_all(rank_table *table, ppi_metric metric) {
  size_t n = table->n;
  double q = quantiles[metric];
  for (size_t i = 0; i < n; i++)
    table->pairs[i] = (pair){table->ranks[i], (uint32_t)i};
  qsort(table->pairs, n, sizeof *table->pairs, by_pair);
  double limit = table->pairs[nearest_rank(q, n)].value;
  for (size_t i = 0; i < n;) {
    size_t end = i;
    while (end < n && table->pairs[end].value <= table->pairs[i].value) end++;
    double rank = q > 0.5 ? table->pairs[i].value > limit
                          : (double)(i + end + 1) / 2 / (double)n;
    for (; i < end; i++) table->ranks[table->pairs[i].place] = rank;
  }
  double mean = mean_of(table->ranks, n);
  for (size_t i = 0; i < n; i++)
    table->variance +=
        (table->ranks[i] - mean) * (table->ranks[i] - mean) / (double)(n - 1);
}

// The mean rank of one side, whose ranks begin at `at`.
static bool side_of(const rank_table *table, const ppi_runs *runs, size_t at,
                    double *out_mean, error_sum *out) {
  run_part *parts = ppi_alloc(num_filled(runs) * sizeof *parts);
  size_t begin = 0, num = 0, n = 0;
  if (!parts) return false;
  for (size_t i = 0; i < runs->num_runs; begin = runs->ends[i++]) {
    size_t len = runs->ends[i] - begin, stride = stride_of(len);
    if (len == 0) continue;
    len = (len + stride - 1) / stride;
    ppi_dependence depends = ppi_dependence_of(table->ranks + at + n, len);
    parts[num++] = (run_part){mean_of(table->ranks + at + n, len),
                              table->variance * depends.time / (double)len,
                              (double)len / (double)depends.block_len - 1,
                              (double)len, depends.time};
    n += len;
  }
  *out_mean = 0;
  for (size_t i = 0; i < num; i++) {
    parts[i].weight /= (double)n;
    *out_mean += parts[i].weight * parts[i].value;
  }
  *out = sum_of_runs(parts, num);
  ppi_free(parts);
  return true;
}

static bool test_table(rank_table *table, const ppi_runs *a, const ppi_runs *b,
                       ppi_metric metric, ppi_rank_test *out) {
  error_sum errors[2], both;
  double means[2];
  append_side(table, a);
  size_t of_b = table->n;
  append_side(table, b);
  rank_all(table, metric);
  if (!side_of(table, a, 0, &means[0], &errors[0]) ||
      !side_of(table, b, of_b, &means[1], &errors[1]))
    return false;
  both.variance = errors[0].variance + errors[1].variance;
  both.squares = errors[0].squares + errors[1].squares;
  double shift = means[1] - means[0];
  bool is_share = quantiles[metric] > 0.5;
  out->shift = 0.5 + (is_share ? shift / 2 : shift);
  if (both.variance > 0)
    out->p = 2 * ppi_student_tail(fabs(shift) / sqrt(both.variance),
                                  degrees_of(&both));
  return true;
}

bool ppi_rank_test_of(const ppi_runs *a, const ppi_runs *b, ppi_metric metric,
                      ppi_rank_test *out) {
  size_t n = ppi_runs_count(a) + ppi_runs_count(b);
  rank_table table = {NULL, NULL, 0, 0};
  *out = (ppi_rank_test){0.5, 1};
  if (ppi_runs_count(a) == 0 || ppi_runs_count(b) == 0) return true;
  table.pairs = ppi_alloc(n * sizeof *table.pairs);
  table.ranks = ppi_alloc(n * sizeof *table.ranks);
  bool ok = table.pairs && table.ranks && test_table(&table, a, b, metric, out);
  ppi_free(table.pairs);
  ppi_free(table.ranks);
  return ok;
}
