// SPDX-License-Identifier: Apache-2.0
//
// The pieces of a run once more, some of them shorter or longer, and what comes
// of it.
#ifndef PPI_WHATIF_REPLAY_H_
#define PPI_WHATIF_REPLAY_H_

#include "whatif/whatif_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// What figures are of.
typedef enum ppi_whatif_unit {
  PPI_WHATIF_REQUESTS = 0,
  PPI_WHATIF_STEPS,
  PPI_WHATIF_RUN  // neither: its length is all there is
} ppi_whatif_unit;

// [low, high]: of 95 %; 0, 0: not known.
typedef struct ppi_whatif_figure {
  double value, low, high;
} ppi_whatif_figure;

typedef struct ppi_whatif_result {
  size_t num;                  // requests or steps; cold ones have no part
  ppi_whatif_figure rate;      // of them in a second; of RUN: 0
  ppi_whatif_figure p50, p99;  // ns of one; of RUN: `value` is its length
  // The longest path: who has most of it, a stage's id or 0 for what lies
  // between stages, how much, and how much lies between.
  uint32_t limit;
  double limit_ns, path_ns, between_ns;
} ppi_whatif_result;

// By piece: when it ends, and what it waited for last.
typedef struct ppi_whatif_replay {
  const ppi_whatif_graph *graph;
  ppi_whatif_unit unit;
  size_t num_warm;  // so many requests or steps at first are cold
  double *ends;     // by id of a piece
  uint32_t *binding;
  double *factors;  // by id of a range
  double *series, *spans, *sorted;
  size_t *picks;
  double *path_ns;  // by id of a stage, of the last replay
} ppi_whatif_replay;

// ppi_whatif_replay_open: false: out of memory. Closed in any case.
bool ppi_whatif_replay_open(ppi_whatif_replay *replay,
                            const ppi_whatif_graph *graph, ppi_whatif_unit unit,
                            size_t num_warm);
void ppi_whatif_replay_close(ppi_whatif_replay *replay);
// ppi_whatif_replay_run: `scales` by id of a stage; below 0: as what is
// around it. With
// `intervals` it also says how sure the figures are.
void ppi_whatif_replay_run(ppi_whatif_replay *replay, const double *scales,
                           bool intervals, ppi_whatif_result *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_REPLAY_H_
