// SPDX-License-Identifier: Apache-2.0
//
// Groups a model's nodes: by operator, by module, or each alone.
#pragma once

#include "cost/table/cost.h"

PPROF_BEGIN_C_

typedef enum ppi_cost_by {
  PPI_COST_BY_MODULE = 0,
  PPI_COST_BY_OPERATOR,
  PPI_COST_BY_MODULE_OPERATOR,
  PPI_COST_BY_NODE
} ppi_cost_by;

// A sum of the known figures; `at_least`: some are unknown.
typedef struct ppi_cost_sum {
  int64_t value;
  bool at_least;
} ppi_cost_sum;

typedef struct ppi_cost_figures {
  size_t num_nodes;
  const char *type;  // of the computing nodes, or "mixed"; NULL: none
  ppi_cost_sum params, param_bytes, macs;
  ppi_cost_sum others;  // FLOPs that are no MACs
  ppi_cost_sum flops;   // 2 macs + others
  ppi_cost_sum in_bytes, weight_bytes, out_bytes;
  size_t num_timed;                     // nodes with a known time
  double ns, timed_flops, timed_bytes;  // of these nodes, in one run
} ppi_cost_figures;

typedef struct ppi_cost_group {
  const char *name;         // the last part of a module, an operator, a node
  const char *module;       // whole
  const char *op_type;      // NULL: of all
  const ppi_cost_row *row;  // of a node alone
  size_t level;             // 0: the model, or a list
  ppi_cost_figures figures;
} ppi_cost_group;

typedef struct ppi_cost_groups {
  ppi_cost_group *items;
  size_t num;
  ppi_cost_figures all;
} ppi_cost_groups;

// ppi_cost_group_by makes them; ppi_cost_groups_clear frees them, also after a
// failure, and names stay the cost's. Modules are in the order of the model,
// `depth` levels of them (0 or less: all, up to 64), operators by their cost.
// False: out of memory.
bool ppi_cost_group_by(ppi_cost *cost, ppi_cost_by by, long depth,
                       ppi_cost_groups *out);
void ppi_cost_groups_clear(ppi_cost_groups *groups);
void ppi_cost_add(ppi_cost_figures *figures, const ppi_cost_row *row);

PPROF_END_C_
