// SPDX-License-Identifier: Apache-2.0
//
// Queue delays of a run, by site and device. One thread at a time.
#pragma once

#include "report/figures/use.h"
#include "report/parts/ids.h"

PPROF_BEGIN_C_

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

PPROF_END_C_
