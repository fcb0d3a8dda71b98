// SPDX-License-Identifier: Apache-2.0
//
// Batches that wait for a sink that has no room, and definitions between them:
// copies, the oldest first, up to a bound. Collector's thread.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_buffered_item ppi_buffered_item;
typedef struct ppi_buffered {
  ppi_buffered_item *first, *last;
  ppi_buffered_item *last_batch;  // NULL: none waits
  size_t num_bytes;
} ppi_buffered;

// One of the two; the other is NULL. Both NULL: nothing waits.
typedef struct ppi_buffered_view {
  const pprof_batch *batch;
  const pprof_definition *definition;
} ppi_buffered_view;

// False: all together would exceed `most_bytes`, or there is no memory.
bool ppi_buffered_put(ppi_buffered *buffered, const pprof_batch *batch,
                      size_t most_bytes);
// Replaces an earlier definition of the id if no batch lies between, so that
// the ids limit what exceeds the bound. False: no memory.
bool ppi_buffered_define(ppi_buffered *buffered,
                         const pprof_definition *definition);
// The oldest item, valid until it is dropped.
ppi_buffered_view ppi_buffered_first(const ppi_buffered *buffered);
void ppi_buffered_drop(ppi_buffered *buffered);
void ppi_buffered_clear(ppi_buffered *buffered);

PPROF_END_C_
