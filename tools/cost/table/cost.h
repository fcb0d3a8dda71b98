// SPDX-License-Identifier: Apache-2.0
//
// The cost of a model, node by node, as known before the model runs: the rows
// that Python's pprof._model prints. One thread at a time.
#pragma once

#include <stdint.h>

#include "file/buffer.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_value {
  bool known;
  int64_t i;
} ppi_value;

// One node: of the graph, of a called function, or of a branch or body. Texts
// are the cost's, never NULL.
typedef struct ppi_cost_row {
  const char *name, *op_type, *domain;  // as the model has them
  const char *module;                   // "layer1/0/conv1"; "" for the model
  const char *output;                   // the name of its first one
  const char *type;                     // "f32", the type of its computation
  const char *shape;                    // "[1,?,3]" of its first output
  const char *reason;  // why a figure is unknown; "": all are known
  int64_t times;       // how often it runs: 0 in a branch that does not count,
                       // -1 if unknown, which counts once
  ppi_value params, param_bytes;  // of parameters that no earlier row uses
  ppi_value macs;                 // multiplications each with an addition
  ppi_value others;               // FLOPs that are no MACs
  ppi_value in_bytes, weight_bytes, out_bytes;
  bool is_timed;
  double ns;  // of one run
} ppi_cost_row;

// Times from a trace of runs of the model: of one run, or of an average one.
typedef struct ppi_cost_times {
  bool is_there;
  size_t num_runs, num_chosen;  // 0 chosen: each node's time is of a call
  long step;                    // the wanted one; -1: none
  double run_ns, node_ns;       // of the run; of the nodes that are rows
  double strange_ns;            // of nodes that are no rows
  size_t num_strange;
} ppi_cost_times;

typedef struct ppi_cost {
  ppi_buffer text;
  char **kept;  // texts beside those of the rows
  size_t num_kept, kept_capacity, kept_bytes;
  ppi_cost_row *rows;
  size_t num_rows, capacity;
  ppi_cost_times times;
  const char *unused;  // a dimension that --dim sets and no node has; NULL
} ppi_cost;

// ppi_cost_read takes the text that pprof._model has printed, and reads it into
// an empty cost, which ppi_cost_clear frees, also after a failure.
//
// Errors: INVALID or CORRUPT with the program's words; UNAVAILABLE for a text
// without an end; NO_MEMORY.
pprof_status ppi_cost_read(ppi_buffer *text, ppi_cost *out, pprof_error *error);
void ppi_cost_clear(ppi_cost *cost);
// ppi_cost_keep answers a copy that lives as long as the cost; NULL: no memory.
const char *ppi_cost_keep(ppi_cost *cost, const char *text);

PPROF_END_C_
