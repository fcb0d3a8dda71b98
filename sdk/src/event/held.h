// SPDX-License-Identifier: Apache-2.0
//
// Batches that wait for a sink that has no room, and definitions between them:
// copies, the oldest first, up to a bound. Collector's thread.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_held_item ppi_held_item;
typedef struct ppi_held {
  ppi_held_item *first, *last;
  ppi_held_item *last_batch;  // NULL: none waits
  size_t num_bytes;
} ppi_held;

// One of the two, the other is NULL. Both: nothing waits.
typedef struct ppi_held_view {
  const pprof_batch *batch;
  const pprof_definition *definition;
} ppi_held_view;

// False where all together would take more than `most_bytes`, or there is no
// memory.
bool ppi_held_put(ppi_held *held, const pprof_batch *batch, size_t most_bytes);
// In the place of one that no batch comes between, so that the ids bound what
// waits beyond the bound. False where there is no memory.
bool ppi_held_define(ppi_held *held, const pprof_definition *definition);
// Until it is dropped.
ppi_held_view ppi_held_first(const ppi_held *held);
void ppi_held_drop(ppi_held *held);
void ppi_held_clear(ppi_held *held);

PPROF_END_C_
