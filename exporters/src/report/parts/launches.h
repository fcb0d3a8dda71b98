// SPDX-License-Identifier: Apache-2.0
//
// Queue delays of a run by site and device, and its kernels by name and launch
// shape. One thread at a time.
#pragma once

#include "report/figures/use.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

// ---- queue delays ----

typedef struct ppi_run_queue {
  uint32_t site, device;
  ppi_queue sums;
} ppi_run_queue;

// By site, then device. All zero is the empty one.
typedef struct ppi_queues {
  ppi_run_queue *items;
  size_t num, capacity;
} ppi_queues;

// ppi_queues_at adds a missing queue. Its answer is valid until the next call;
// NULL: out of memory.
ppi_queue *ppi_queues_at(ppi_queues *all, uint32_t site, uint32_t device);
bool ppi_queues_fill(const ppi_queues *all, ppi_run_ids *ids, ppi_figures *out);
void ppi_queues_clear(ppi_queues *all);

// ---- launch shapes ----

typedef struct ppi_run_shape {
  uint32_t site;
  ppi_report_shape sums;  // without the name
} ppi_run_shape;

// All zero is the empty one.
typedef struct ppi_shapes {
  ppi_map ids;     // of attributes
  size_t *latest;  // by number in `ids`: the shape's index, + 1
  size_t latest_capacity;
  ppi_launch_shape *items;
  size_t num, capacity;
  ppi_map row_numbers;
  ppi_run_shape *rows;
  size_t num_rows, rows_capacity;
} ppi_shapes;

// ppi_shapes_define takes attributes that may contain a launch shape.
bool ppi_shapes_define(ppi_shapes *shapes, uint32_t id, const char *text);
// ppi_shapes_take counts a timed kernel if its attributes have a launch shape.
bool ppi_shapes_take(ppi_shapes *shapes, const pprof_event *event,
                     uint64_t length_ns);
bool ppi_shapes_fill(const ppi_shapes *shapes, ppi_run_ids *ids,
                     ppi_figures *out);
void ppi_shapes_clear(ppi_shapes *shapes);

PPROF_END_C_
