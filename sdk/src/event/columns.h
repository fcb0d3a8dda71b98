// SPDX-License-Identifier: Apache-2.0
//
// A batch of a log: each row has times, and its shape has the rest of an event.
// Only sinks that ask for it get one.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

// Part of the size of a sink that takes columns, and of such a batch.
#define PPI_IN_COLUMNS ((size_t)1 << 20)

// An event that is not whole ends when it starts or later, and before the end
// of time.
typedef struct ppi_column_row {
  uint64_t start_ns, end_ns;
  uint32_t at;    // its shape, or in `events`
  bool is_whole;  // the event lies in `events`
} ppi_column_row;

typedef struct ppi_column_shape {
  pprof_event event;  // without times
  uint64_t count;     // of its rows, whole ones, too
} ppi_column_shape;

typedef struct ppi_columns {
  pprof_batch batch;  // without events
  const ppi_column_row *rows;
  const ppi_column_shape *shapes;
  const pprof_event *events;
  size_t num_shapes, num_events;
} ppi_columns;

// ppi_columns_of answers NULL for any other batch.
static inline const ppi_columns *ppi_columns_of(const pprof_batch *batch) {
  return batch->size & PPI_IN_COLUMNS ? (const ppi_columns *)(const void *)batch
                                      : NULL;
}

// ppi_batch_rest answers event `i`, which may lack its times.
static inline const pprof_event *ppi_batch_rest(const pprof_batch *batch,
                                                size_t i) {
  const ppi_columns *columns = ppi_columns_of(batch);
  if (!columns) return pprof_batch_at(batch, i);
  const ppi_column_row *row = &columns->rows[i];
  return row->is_whole ? &columns->events[row->at]
                       : &columns->shapes[row->at].event;
}

// ppi_batch_at answers event `i`, in `room` if it lies nowhere else.
static inline const pprof_event *ppi_batch_at(const pprof_batch *batch,
                                              size_t i, pprof_event *room) {
  const ppi_columns *columns = ppi_columns_of(batch);
  const pprof_event *event = ppi_batch_rest(batch, i);
  if (!columns || columns->rows[i].is_whole) return event;
  *room = *event;
  room->start_ns = columns->rows[i].start_ns;
  room->end_ns = columns->rows[i].end_ns;
  return room;
}

PPROF_END_C_
