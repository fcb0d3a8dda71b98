// SPDX-License-Identifier: Apache-2.0
//
// How a figure of B relates to that of A, and how sure that is. Differences
// are distances: of a mean in its logarithm; of a percentile in ranks, that is
// in the share of calls below a level, so that neither a gap nor a tie where
// the percentile lies needs a density.
#pragma once

#include "compare/compare_dependence.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_runs_take_time says whether their figure is above 0.
bool ppi_runs_take_time(const ppi_runs *runs, ppi_metric metric);
// ppi_estimate_of fills in the number and the value. False when out of memory.
bool ppi_estimate_of(const ppi_runs *runs, ppi_metric metric,
                     ppi_estimate *out);

typedef struct ppi_ratio_side {
  ppi_runs runs;
  size_t n;
  float *sorted;
  double value;
  double each;         // the variance of one independent call
  double independent;  // samples that would tell as much
  double part;         // of a distance, that this side accounts for
} ppi_ratio_side;

typedef struct ppi_ratio {
  ppi_ratio_side sides[2];
  ppi_metric metric;
  ppi_models models;
  // Seen from the two figures, and from where both sides would agree.
  ppi_mixture mixtures[2];
  size_t num_mixtures;
} ppi_ratio;

// ppi_ratio_open wants samples, and figures above 0, on both sides. False when
// out of memory; ppi_ratio_close frees either way.
bool ppi_ratio_open(ppi_ratio *ratio, const ppi_runs *a, const ppi_runs *b,
                    ppi_metric metric);
void ppi_ratio_close(ppi_ratio *ratio);
// ppi_ratio_p is how likely so great a change is, to either side,
// where the real one is within the margin. It adds what is seen from where the
// sides would agree; all calls after it know that too.
double ppi_ratio_p(ppi_ratio *ratio, double margin);
// ppi_ratio_reach is the distance beyond which an error lies with a chance of
// `p` on each side; ppi_ratio_at is the ratio at a distance from the one seen.
double ppi_ratio_reach(const ppi_ratio *ratio, double p);
double ppi_ratio_at(const ppi_ratio *ratio, double distance);
// ppi_ratio_stays_for is for how many calls a level stays, where that is much
// of a run; else 0.
double ppi_ratio_stays_for(const ppi_ratio *ratio);

PPROF_END_C_
