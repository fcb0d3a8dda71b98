// SPDX-License-Identifier: Apache-2.0
//
// Estimates the ratio of a figure of B to that of A, and its error. A
// difference is a distance: for a mean, of logarithms; for a percentile, of
// ranks (the share of calls below a level). Ranks need no density, so gaps and
// ties at the percentile do no harm.
#pragma once

#include "compare/compare_dependence.h"

PPROF_BEGIN_C_

// ppi_runs_take_time answers whether the figure of the runs is above 0.
bool ppi_runs_take_time(const ppi_runs *runs, ppi_metric metric);
// ppi_estimate_of answers the number and the value.
ppi_estimate ppi_estimate_of(const ppi_runs *runs, ppi_metric metric);

typedef struct ppi_ratio_side {
  ppi_runs runs;
  size_t n;
  float *sorted;
  double value;
  double each;         // the variance of one independent call
  double independent;  // equivalent number of independent samples
  double part;         // this side's share of a distance
} ppi_ratio_side;

typedef struct ppi_ratio {
  ppi_ratio_side sides[2];
  ppi_metric metric;
  ppi_models models;
  // At the two figures, and at the level at which both sides would agree.
  ppi_mixture mixtures[2];
  size_t num_mixtures;
} ppi_ratio;

// ppi_ratio_open wants samples, and figures above 0, on both sides.
void ppi_ratio_open(ppi_ratio *ratio, const ppi_runs *a, const ppi_runs *b,
                    ppi_metric metric);
void ppi_ratio_close(ppi_ratio *ratio);
// ppi_ratio_p is the chance of so great a measured change, to either side, if
// the real change is within the margin. It adds the mixture at which the sides
// would agree; later calls use that mixture, too.
double ppi_ratio_p(ppi_ratio *ratio, double margin);
// ppi_ratio_reach is the distance beyond which an error lies with a chance of
// `p` on each side; ppi_ratio_at is the ratio at a distance from the measured
// ratio.
double ppi_ratio_reach(const ppi_ratio *ratio, double p);
double ppi_ratio_at(const ppi_ratio *ratio, double distance);
// ppi_ratio_stays_for is the calls of a level, if that is much of a run; else
// 0.
double ppi_ratio_stays_for(const ppi_ratio *ratio);

PPROF_END_C_
