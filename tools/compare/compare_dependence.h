// SPDX-License-Identifier: Apache-2.0
//
// How sure a mean is of values that depend on those before them. How long the
// dependence lasts cannot be known from a short series, so nothing here
// believes in one length: each of a set of models says how far the mean may
// lie off, and each counts as much as it fits the series' slow changes.
#pragma once

#include "compare/compare_stats.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

// A model is independent noise, and for all but the first a second part that
// forgets slowly: how slowly, and how much of it there is.
enum { PPI_MAX_MODELS = 200 };
// Levels that stay for more than a run's length over this are looked for where
// the calls show that levels stay.
enum { PPI_RUN_LENGTHS = 4 };

// What each call adds to a figure: its time, over that of an average call; or,
// where `mean` is 0, whether it lies below a level, half where it lies on it.
typedef struct ppi_series {
  ppi_runs runs;
  double mean;
  float level;
} ppi_series;

// What a series says under each model. `fits` is its log likelihood; the other
// figures are of the mean of all its values.
typedef struct ppi_dependence {
  double fits[PPI_MAX_MODELS];
  double variances[PPI_MAX_MODELS], degrees[PPI_MAX_MODELS];
  double times[PPI_MAX_MODELS];  // n over the independent values worth as much
} ppi_dependence;

// How many models there are, by how long their levels stay.
typedef struct ppi_models {
  size_t brief, usual, all;
  double evidence;  // that levels stay; a ratio of likelihoods
} ppi_models;

// ppi_models_for is for runs of up to `longest` values.
ppi_models ppi_models_for(size_t longest);
// `each` is the variance of the values, were they independent; the mean is
// never taken for surer than that.
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
  double stays_for;  // calls, where levels stay for a run's length; else 0
} ppi_mixture;

// Both sides have one dependence, as nothing else is known under "nothing
// changed". `out_times` gets the dependence of each, over all models.
void ppi_mixture_of(const ppi_dependence sides[2], ppi_models num,
                    ppi_mixture *out, double out_times[2]);
// ppi_mixture_tail is P(error > distance); ppi_mixture_reach the distance whose
// tail is `p`.
double ppi_mixture_tail(const ppi_mixture *mixture, double distance);
double ppi_mixture_reach(const ppi_mixture *mixture, double p);

PPROF_END_C_
