// SPDX-License-Identifier: Apache-2.0
//
// Estimates the error of a mean of values that depend on earlier values. A
// short series does not show how long the dependence lasts, so a set of models
// covers many lengths. Each model gives an error of the mean, and is weighted
// by its fit to the slow changes of the series.
#pragma once

#include "compare/compare_stats.h"

PPROF_BEGIN_C_

// A model is independent noise plus, except in the first model, a slow part
// with a length and a height.
enum { PPI_MAX_MODELS = 200 };
// Levels longer than a run's length over this count only if the calls show long
// levels.
enum { PPI_RUN_LENGTHS = 4 };

// The share of each call in a figure: its time over the mean; or, if `mean` is
// 0, 1 below a level, a half on it, 0 above.
typedef struct ppi_series {
  ppi_runs runs;
  double mean;
  float level;
} ppi_series;

// The results of a series under each model. `fits` is its log likelihood; the
// other figures are of the mean of all its values.
typedef struct ppi_dependence {
  double fits[PPI_MAX_MODELS];
  double variances[PPI_MAX_MODELS], degrees[PPI_MAX_MODELS];
  double times[PPI_MAX_MODELS];  // n / equivalent number of independent values
} ppi_dependence;

// The number of models, by the length of their levels.
typedef struct ppi_models {
  size_t brief, usual, all;
  double evidence;  // needed for long levels; a ratio of likelihoods
} ppi_models;

// ppi_models_for answers the models for runs of up to `longest` values.
ppi_models ppi_models_for(size_t longest);
// `each` is the variance of independent values; the error of the mean is never
// smaller than theirs.
void ppi_dependence_of(const ppi_series *series, size_t num_models, double each,
                       ppi_dependence *out);
// ppi_variance_within is the variance of values about the mean of their run.
double ppi_variance_within(const ppi_series *series);

// The error of the difference of two means, under each model.
typedef struct ppi_mixture {
  size_t num;
  double weights[PPI_MAX_MODELS];  // 1 together
  double errors[PPI_MAX_MODELS];
  ppi_student students[PPI_MAX_MODELS];
  double stays_for;  // calls of a level, if as long as a run; else 0
} ppi_mixture;

// Both sides share one dependence, as "nothing changed" implies. `out_times`
// gets the dependence of each side, averaged over the usual models.
void ppi_mixture_of(const ppi_dependence sides[2], ppi_models num,
                    ppi_mixture *out, double out_times[2]);
// ppi_mixture_tail is P(error > distance); ppi_mixture_reach the distance with
// a tail of `p`.
double ppi_mixture_tail(const ppi_mixture *mixture, double distance);
double ppi_mixture_reach(const ppi_mixture *mixture, double p);

PPROF_END_C_
