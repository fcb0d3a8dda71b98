// SPDX-License-Identifier: Apache-2.0
//
// Joins several sinks in one. A sink that fails is detached. A sink without
// room gets buffered batches later, and misses those beyond the buffer; the
// others go on.
#pragma once

#include "event/tally.h"

PPROF_BEGIN_C_

#define PPI_MAX_SINKS 16u

// Batches that wait for a sink that has no room, and definitions between them:
// copies, the oldest first, up to a bound.
typedef struct ppi_buffered_item ppi_buffered_item;
typedef struct ppi_buffered {
  ppi_buffered_item *first, *last;
  ppi_buffered_item *last_batch;  // NULL: none waits
  size_t num_bytes;
} ppi_buffered;

// The input that a sink without room gets later, or has missed. A sink that
// keeps has its whole part of a lane once it has kept up to `given`; missed
// records go up to `end`.
typedef struct ppi_missed {
  bool waits;  // had no room when it was asked last, or has more to get
  ppi_buffered buffered;
  ppi_tally tally;
  struct {
    uint64_t given, end;
  } * lanes;
  size_t num_lanes, capacity;
} ppi_missed;

typedef struct ppi_tee {
  pprof_sink base;
  pprof_sink *sinks[PPI_MAX_SINKS];
  bool detached[PPI_MAX_SINKS];
  ppi_missed missed[PPI_MAX_SINKS];
  pprof_status errors[PPI_MAX_SINKS];  // the first of each
  size_t num_sinks;
  size_t most_buffered;  // bytes, for each sink
  size_t finishes_last;  // that sink + 1, for one with a finish that waits long
  pprof_status first_error;
} ppi_tee;

// `base.ready` asks every sink, gives buffered batches to those that have room
// again, and answers whether nothing is buffered.
void ppi_tee_init(ppi_tee *tee);
// BUSY when there is no room, INVALID when the sink's size says nothing.
pprof_status ppi_tee_add(ppi_tee *tee, pprof_sink *sink);
void ppi_tee_destroy_sinks(ppi_tee *tee);
void ppi_tee_forget_sinks(ppi_tee *tee);  // they are others' now
// The run is over: buffered batches without room now are missed.
void ppi_tee_settle(ppi_tee *tee);
// The number of records that the sinks have missed together.
uint64_t ppi_tee_num_missed(const ppi_tee *tee);
// Reports the records that the `i`th sink has missed; false: none.
bool ppi_tee_describe_missed(const ppi_tee *tee, size_t i, char *text,
                             size_t size);

PPROF_END_C_
