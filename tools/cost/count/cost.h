// SPDX-License-Identifier: Apache-2.0
//
// What a model costs, node by node, as far as it is known before it runs.
#ifndef PPI_COST_COST_H_
#define PPI_COST_COST_H_

#include "cost/count/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

// One node, of the graph, of a function that was called, or of a branch or
// body. Texts are the model's or the cost's.
typedef struct ppi_cost_row {
  const char *name, *op_type, *domain;  // as the model has them; never NULL
  const char *module;                   // "layer1/0/conv1"; "" for the model
  const char *output;                   // the name of its first one, or ""
  int type;                             // ppi_type of what it computes with
  uint32_t cause;  // why something of it is unknown; 0: all is known
  int64_t times;   // how often it runs: 0 in a branch that does not count,
                   // -1 where nobody knows; it is counted once then
  ppi_value params, param_bytes;  // of those that no row before it uses
  ppi_work work;                  // of all its times
  ppi_value in_bytes, weight_bytes, out_bytes;
  const ppi_value *dims;  // of its first output
  int rank;               // -1: unknown
  bool is_timed;
  double ns;  // of one run
} ppi_cost_row;

// What a trace of runs of the model says of them all, one of them on average.
typedef struct ppi_cost_times {
  bool is_there;
  size_t num_runs, num_chosen;  // 0 chosen: each node's time is of a call
  long step;                    // the one that was asked for; -1: none
  double run_ns, node_ns;       // of the run; of the nodes that are rows
  double strange_ns;            // of nodes that are none
  size_t num_strange;
} ppi_cost_times;

typedef struct ppi_cost {
  ppi_shapes shapes;
  ppi_cost_row *rows;
  size_t num_rows, capacity;
  ppi_cost_times times;
} ppi_cost;

// ppi_cost_clear frees it; the model stays.
void ppi_cost_clear(ppi_cost *cost);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_COST_H_
